// SPDX-License-Identifier: BSD-3-Clause
#include "common/launch.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "common/clock.h"
#include "common/errors.h"
#include "common/interruption.h"
#include "common/noise.h"
#include "common/recorder.h"
#include "common/sampler.h"
#include "common/sleeping.h"

namespace workloads {
namespace {

constexpr int usage_status = 2;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// The file's text; UsageError with the system's reason if it cannot be read (streams do not tell one).
std::string read_file(const std::string& option, const std::string& path) {
  constexpr std::size_t block = 65536;
  const File file(std::fopen(path.c_str(), "rb"), std::fclose);
  std::string text;
  std::size_t got = file ? block : 0;
  while (got == block) {
    text.resize(text.size() + block);
    got = std::fread(text.data() + text.size() - block, 1, block, file.get());
    text.resize(text.size() - block + got);
  }
  if (!file || std::ferror(file.get()) != 0) {
    throw UsageError(fmt::format("{} {}: cannot be read: {}", option, path, std::strerror(errno)));
  }
  return text;
}

/// Rank 0 reads, everybody has the text: the file need not be on every node.
std::string read_shared(const MpiProcess& mpi, const std::string& option, const std::string& path) {
  std::string text;
  mpi.on_root<UsageError>([&] { text = read_file(option, path); });
  return mpi.broadcast(text);
}

void check_all(const MpiProcess& mpi, const std::vector<PlannedPoint>& points) {
  const auto provided = mpi.thread_level()["provided"].get<std::string>();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [benchmark, point] = points[i];
    if (time_is_simulated && !can_sleep(benchmark->parameters)) {
      throw UsageError(
          fmt::format("{} computes, which would take no time in SMPI: a benchmark that can sleep instead is wanted",
                      benchmark->name));
    }
    check_point(point, benchmark->parameters, fmt::format("point {}", i + 1));
    benchmark->check(point, mpi.size());
    if (higher_thread_level(provided, benchmark->thread_level) != provided) {
      throw UsageError(fmt::format("{} needs the thread level {}, and this MPI provides {} only", benchmark->name,
                                   benchmark->thread_level, provided));
    }
  }
}

/// Everybody has its memory, or nobody goes on.
std::unique_ptr<Experiment> prepare(const MpiProcess& mpi, const Launch& launch, const PlannedPoint& planned) {
  std::unique_ptr<Experiment> experiment;
  try {
    experiment = planned.benchmark->prepare(
        {.mpi = mpi, .point = planned.point, .slowdown = launch.options.slowdown, .settle_s = launch.options.settle_s});
  } catch (const std::bad_alloc&) {
    experiment.reset();
  }
  const bool missing = mpi.maximum(experiment ? 0 : 1) != 0;
  return missing ? nullptr : std::move(experiment);
}

/// A point that failed is told at once: nobody should have to look into the record to learn it.
void report_failure(const MpiProcess& mpi, Recorder& recorder, const Json& point, const std::string& reason) {
  const auto agreed = recorder.failed_point(point, reason);
  if (mpi.is_root()) {
    fmt::print(stderr, "point {} failed: {}\n", to_line(point), agreed);
  }
}

Decision measure(const MpiProcess& mpi, const Launch& launch, const PlannedPoint& planned, Recorder& recorder) {
  const auto experiment = prepare(mpi, launch, planned);
  if (!experiment) {
    report_failure(mpi, recorder, planned.point, "there is not enough memory for this point");
    return Decision::failed;
  }
  const auto before = read_noise(recorder.allowed_cpus());
  const auto samples = collect(mpi, *experiment, launch.options.sampler);
  if (samples.end == Decision::failed) {
    report_failure(mpi, recorder, planned.point, samples.problem);
  } else if (samples.end != Decision::interrupted) {
    recorder.point(planned.point, *experiment, samples, before);
  }
  return samples.end;
}

}  // namespace

std::vector<Json> read_points(const MpiProcess& mpi, const LaunchOptions& options) {
  std::vector<Json> points;
  if (!options.points_file.empty()) {
    const auto text = read_shared(mpi, "--points", options.points_file);
    points = points_from_json(text, "--points " + options.points_file);
  }
  for (const auto& text : options.points) {
    points.push_back(point_from_text(text));
  }
  return points;
}

int run_launch(const MpiProcess& mpi, const Launch& launch, const std::vector<PlannedPoint>& points) {
  if (points.empty()) {
    throw UsageError("no point to measure: give --points FILE or --point key=value,...");
  }
  check_all(mpi, points);
  Json context = Json::object();
  if (const auto& file = launch.options.context_file; !file.empty()) {
    context = object_from_json(read_shared(mpi, "--context", file), "--context " + file);
  }
  if (time_is_simulated && !context.contains("simulated")) {  // also by hand no record passes for a measured one
    context["simulated"] = Json::object();
  }
  watch_for_interruption();
  Recorder recorder(mpi, launch.options.output, launch.counters_at_start);
  recorder.header({
      .workload = launch.workload,
      .quantities = launch.quantities,
      .context = context,
      .arguments = launch.arguments,
  });
  std::size_t failed = 0;
  for (const auto& planned : points) {
    const Decision end = measure(mpi, launch, planned, recorder);
    if (end == Decision::interrupted) {
      recorder.end("interrupted", "a signal asked to stop");
      return EXIT_FAILURE;
    }
    failed += end == Decision::failed ? 1 : 0;
  }
  recorder.end(failed == 0 ? "ok" : "failed", failed == 0 ? "" : fmt::format("{} of {} points", failed, points.size()));
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run_with_mpi(const std::string& program, const std::string& level,
                 const std::function<int(const MpiProcess&)>& body) {
  const MpiProcess mpi(level);
  const auto say = [&](const char* sentence) {
    if (mpi.is_root()) {
      fmt::print(stderr, "{}: {}\n", program, sentence);
    }
  };
  try {
    return body(mpi);
  } catch (const UsageError& error) {
    say(error.what());
    return usage_status;
  } catch (const Failure& error) {
    say(error.what());
    return EXIT_FAILURE;
  } catch (const std::exception& error) {  // of this rank alone: the others may wait for it
    abort_all(fmt::format("{}: {} (rank {})", program, error.what(), mpi.rank()));
  }
}

}  // namespace workloads
