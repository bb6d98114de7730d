# SPDX-License-Identifier: BSD-3-Clause
"""Mends of what wakes the engine, and when: small messages, parking, the bell, rounds, fabrics' libraries."""

from __future__ import annotations

from .mend import Edit, Mend

CALL_CPP = "src/mpi/call.cpp"
VERBS = "src/fabrics/verbs.cpp"

WAKING = (
    Mend(
        "adaptive is not woken for small messages",
        (Edit("src/mpi/call.hpp", "if (limit == 0 || count > limit) return", "if (limit >= 0) return"),),
        "test_small.py -k wake_nobody",
    ),
    Mend(
        "small messages: a burst of them is polled for",
        (Edit("src/policy/settings.hpp", "return 8L * policy.eager_bytes;", "return 800L * policy.eager_bytes;"),),
        "engine_unit_tests:Engine.AdaptiveStaysParkedWhileOnlySmall*",
    ),
    Mend(
        "small messages: what has completed weighs nothing",
        (Edit("src/core/activity.hpp", "      settle(weight);\n", ""),),
        "engine_unit_tests:Activity.WeightsEnd*",
    ),
    Mend(
        "small messages: a thread alone sees that nothing is pending",
        (
            Edit(
                "src/core/activity.hpp",
                "      settle(slot.weight.load(std::memory_order_relaxed));",
                "      static_cast<void>(0);",
            ),
        ),
        "engine_unit_tests:Activity.AThreadAlone*",
    ),
    Mend(
        "small messages: a thread among others does not",
        (Edit("src/core/activity.hpp", " &&\n        !several_.load(std::memory_order_relaxed))", ")"),),
        "engine_unit_tests:Activity.AThreadAmong*",
    ),
    Mend(
        "small messages: a large one that starts while somebody looks",
        (
            Edit(
                "src/core/activity.hpp",
                "    add(slot.started, operations);\n    add(slot.weight, weight);\n",
                "    add(slot.weight, weight);\n    add(slot.started, operations);\n",
            ),
        ),
        "engine_model_tests:WeightInterleavings.*",
    ),
    Mend(
        "a parked engine: of several threads each asks it",
        (
            Edit(
                "src/core/activity.hpp",
                "limit == 0 || several_.load(std::memory_order_relaxed) || progress_users() > 0",
                "limit == 0 || progress_users() > 0",
            ),
        ),
        "engine_unit_tests:Activity.ItAsksFor*",
    ),
    Mend(
        "Intel MPI asks for a version of fi_fabric",
        (Edit("src/fabrics/lookups.cpp", 'if (name == "dlvsym")', 'if (name == "no_dlvsym")'),),
        "engine_unit_tests:Lookups.OfAVersion*",
    ),
    Mend(
        "the bell: each start of a persistent request",
        (Edit(CALL_CPP, "    ring_again(partner);\n"),),
        "test_bell.py -k persistent",
        full=True,
    ),
    Mend(
        "the bell: a receive from any source begins it",
        (Edit("src/wakeup/bell.cpp", "  expects_anyone_.store(true, std::memory_order_relaxed);\n", "  return;\n"),),
        "engine_unit_tests:Job.BeginsForAReceive*",
    ),
    Mend(
        "the bell: a receive from any source, as the program makes it",
        (Edit(CALL_CPP, "if (rank == MPI_ANY_SOURCE) expect_anyone(count, type);"),),
        "test_bell.py -k any_source",
        full=True,
    ),
    Mend(
        "libfabric: what its fi_trywait polls with its lock held is not armed",
        (Edit("src/wait/fabrics.hpp", "round_of_thread = nullptr;  // libfabric's", "// libfabric's"),),
        "engine_unit_tests:Libfabric.IsArmed*",
    ),
    Mend(
        "the bell: another program that has its port is named",
        (Edit("src/wakeup/bell.cpp", "    ask_here();\n"),),
        "engine_unit_tests:Job.SaysThatAnotherProgram*",
    ),
    Mend(
        "the bell: not where a connection to another node may carry the messages",
        (
            Edit(
                "src/core/event_loop.hpp",
                "[this] { return events_ && events_->moved_afar(); }",
                "[] { return false; }",
            ),
        ),
        "engine_unit_tests:Events.LeaveTheBellAloneWhile*",
    ),
    Mend(
        "the bell: a connection that was made since the last look",
        (Edit("src/wait/event_source.cpp", "  if (known_ones_moved_afar()) return true;\n  refresh();\n"),),
        "engine_unit_tests:TcpTraffic.ToAnotherNode*",
    ),
    Mend(
        "the bell: a message that is pending says nothing",
        (Edit("src/core/unannounced_messages.hpp", "noted_ && completed >= started_", "noted_"),),
        "engine_unit_tests:UnannouncedMessages.*",
    ),
    Mend(
        "the bell: what began before a look may have moved before it",
        (Edit("src/core/unannounced_messages.hpp", "    certain_ = certain;\n", "    certain_ = 0;\n"),),
        "engine_unit_tests:UnannouncedMessages.*",
    ),
    Mend(
        "the bell: messages of more than 2 GiB",
        (
            Edit(
                "src/mpi/type_size.hpp",
                "  MPI_Count size = 0;\n  PE_PMPI(MPI_Type_size_x)(type, &size);\n  return bytes_of(count, size);",
                "  int size = 0;\n  PE_PMPI(MPI_Type_size)(type, &size);\n  return count * size;",
            ),
        ),
        "test_bell.py -k gibibytes",
        full=True,
    ),
    Mend(
        "a size that no number tells",
        (
            Edit(
                "src/mpi/message_size.hpp",
                "size < 0 || __builtin_mul_overflow(count, size, &bytes) ? most : bytes",
                "(bytes = count * size)",
            ),
        ),
        "engine_unit_tests:MessageSize.*",
    ),
    Mend(
        "calls look for neighbours for a hundredth of the time",
        (
            Edit(
                "src/wakeup/doorbell.cpp",
                "  if (begin < next_look_.load(std::memory_order_relaxed)) return;\n",
            ),
        ),
        "engine_unit_tests:Doorbell.LooksAround*",
    ),
    Mend(
        "nobody is looked for where all were found",
        (Edit("src/wakeup/doorbell.cpp", "  if (!all_were_found()) look();", "  look();"),),
        "engine_unit_tests:Doorbell.LooksForNobody*",
    ),
    Mend(
        "the doorbell's socket is emptied by a few datagrams at a time",
        (Edit("src/wakeup/doorbell.cpp", "i < drained_at_once", "i < 1000000"),),
        "engine_unit_tests:Doorbell.EmptiesItsSocket*",
    ),
    Mend(
        "datagrams without a mark do not wake more often than a thousand times a second",
        (Edit("src/core/event_loop.hpp", "if (!rung()) pause_for_ = unmarked_.take(now());"),),
        "engine_unit_tests:Events.AFloodOfUnmarkedDatagrams*",
    ),
    Mend(
        "the bell: more partners than places",
        (Edit("src/wakeup/bell.cpp", "    make_place_for(rank);\n", "    return nullptr;\n"),),
        "engine_unit_tests:Job.WhoWasUsedLongestAgo*",
    ),
    Mend(
        "rounds of a collective operation whose data an adapter moves",
        (
            Edit(
                "src/core/event_loop.hpp",
                "rounds_.rest(gathering(), std::min(interval_.minimum(), interval_.price()))",
                "gathering()",
            ),
        ),
        "engine_unit_tests:Events.FollowTheRounds*",
    ),
    Mend(
        "what a fabric's library says of a poll",
        (Edit("src/core/progress.hpp", "  steps.tell(result);\n"),),
        "engine_unit_tests:Burst.BelievesAFabricsLibrary*",
    ),
    Mend(
        "verbs: a completion between the poll and the arming",
        (Edit(VERBS, "    found = poll(cq, entries, completions);\n"),),
        "engine_unit_tests:Verbs.ArePolledAgain*:Verbs.LoseNothingInAny*",
    ),
    Mend(
        "verbs: events are acknowledged at once",
        (Edit(VERBS, " == 0) acknowledge.get()(cq, 1);", " == 0) continue;"),),
        "engine_unit_tests:Verbs.LeaveNoEvent*",
    ),
    Mend(
        "verbs: a queue without a channel is not armed",
        (Edit(VERBS, "if (!cq->channel) return Armed::failed;", "if (!cq->channel) return Armed::yes;"),),
        "engine_unit_tests:Verbs.LeaveAloneAQueueAt*",
    ),
    Mend(
        "verbs: reading events waits for none",
        (Edit(VERBS, "flags | O_NONBLOCK", "flags & ~O_NONBLOCK"),),
        "engine_unit_tests:Verbs.GiveAQueue*",
    ),
    Mend(
        "verbs: a channel that the MPI reads is its own",
        (Edit(VERBS, '  if (channel) return "the MPI waits for its completion queues itself";\n'),),
        "engine_unit_tests:Verbs.LeaveAloneWhatTheMpi*",
    ),
    Mend(
        "verbs: UCX's and libfabric's queues are theirs",
        (Edit(VERBS, "if (maker != makers.end()) {", "if (false) {"),),
        "engine_unit_tests:Verbs.LeaveAloneWhatUcx*",
    ),
    Mend(
        "verbs: where UCX announces they are not asked",
        (Edit(VERBS, "if (fabrics.announces(other)) return", "if (false) return"),),
        "engine_unit_tests:Verbs.StayAsTheyAre*",
    ),
    Mend(
        "verbs: a queue that is gone is watched no more",
        (Edit(VERBS, "  if (own) fabrics_of_process().closed(cq);\n"),),
        "engine_unit_tests:Verbs.GiveAQueue*",
    ),
    Mend(
        "verbs: a queue that cannot be destroyed goes on announcing",
        (
            Edit(
                VERBS,
                "  if (known.descriptor >= 0) fabrics_of_process().opened(Fabric::verbs, cq, known.descriptor);\n",
            ),
        ),
        "engine_unit_tests:Verbs.GoOn*",
    ),
    Mend(
        "processes on this node, as a launcher further out counted its own",
        (Edit("src/mpi/job.cpp", "if (number_in_environment(all) == size) "),),
        "engine_unit_tests:Launched.ProcessesHereAreNot*",
    ),
)
