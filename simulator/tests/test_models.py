# SPDX-License-Identifier: BSD-3-Clause
"""The model's numbers are those of the network that was measured; and predictions are judged as they should be."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pandas as pd
import pytest

from analysis.errors import UsageError
from analysis.records.load import Records, load
from harness.simulated import model_folder
from simulator.check import Key, from_json, judge, pair, to_json
from simulator.fit import asks_nobody, bandwidth, eager_limit, fit
from simulator.medians import Number, must_be_as_fast

REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference"


FITTED, TREE = (model_folder.SHIPPED / name for name in ("vcluster", "hdr-fat-tree"))
KEPT = tuple(REFERENCE / "model" / name for name in ("messages", "lengths", "collectives"))


@pytest.fixture(scope="module")
def kept() -> Records:
    return load(list(KEPT))


def test_the_fit_finds_the_network_that_was_set(kept: Records) -> None:
    fitted = fit(kept)
    assert fitted.bandwidth.value == pytest.approx(125e6, rel=0.02)
    assert fitted.bandwidth.low <= fitted.bandwidth.value <= fitted.bandwidth.high
    handshakes = {mpi: model["protocol"]["handshake"] for mpi, model in fitted.mpis.items()}
    assert handshakes == {"intel-mpi": False, "mpich": True, "openmpi": True}
    assert fitted.mpis["openmpi"]["async"]["exists"] is False


def test_what_every_message_takes_is_not_the_lines() -> None:
    sizes = [4096.0, 65536.0, 1e6, 16e6]
    bare = pd.DataFrame({"size_bytes": sizes, "comm_s": [200e-6 + size / 125e6 for size in sizes], "ack_s": 20e-6})
    assert bandwidth(bare).value == pytest.approx(125e6)
    assert bandwidth(bare[bare["size_bytes"] == 16e6]).value == pytest.approx(125e6, rel=0.01)


def test_a_line_limited_by_tbf_is_not_fitted() -> None:
    with pytest.raises(UsageError, match=r"Session \S+ is of a line limited by tbf, .*no model has such a line"):
        fit(load([REFERENCE / "collectives" / "two-nodes"]))


def test_two_networks_are_not_fitted_together(kept: Records) -> None:
    launches = kept.launches.assign(network="made up: 1 Gb/s")
    launches.loc[launches["study"] == "collective-overlap", "network"] = "made up: 2 Gb/s"
    said = r"the sessions are of 2: made up: 1 Gb/s in session \S+; made up: 2 Gb/s in session \S+\.$"
    with pytest.raises(UsageError, match=said):
        fit(dataclasses.replace(kept, launches=launches))


def test_a_line_as_fast_as_the_models_is_wanted(kept: Records) -> None:
    must_be_as_fast(kept.launches, 125e6, "m")
    with pytest.raises(UsageError, match=r"of a line of 1 Gb/s, and model m has one of 10 Gb/s: name another model"):
        must_be_as_fast(kept.launches, 1.25e9, "m")
    must_be_as_fast(kept.launches.assign(network="HDR InfiniBand"), 1.25e9, "m")  # whose words name no rate
    assert [model_folder.bytes_per_s(path) for path in (FITTED, TREE)] == [pytest.approx(125e6, rel=0.02), 25e9]


def test_of_applications_alone_the_network_does_not_matter(kept: Records) -> None:
    applications = load([REFERENCE / "applications" / "fft-thirty-two-fields"]).launches
    assert applications["network"].str.contains("tbf").all()
    both = pd.concat([kept.launches, applications], ignore_index=True)
    assert fit(dataclasses.replace(kept, launches=both)).bandwidth.value == fit(kept).bandwidth.value


def test_the_fit_finds_whose_core_an_own_thread_takes(kept: Records) -> None:
    """Linux's tick there is 4 ms. MPICH's threads are on the cores of their ranks. Intel MPI's are both on the second
    rank's: the first process had 1.3 CPUs in these records, and its one core is CPU 0."""
    fitted = fit(kept)
    threads = {mpi: model["async"] for mpi, model in fitted.mpis.items()}
    assert {mpi: [one["value"] for one in own["beside"]] for mpi, own in threads.items()} == {
        "intel-mpi": [0, 2],
        "mpich": [1, 1],
        "openmpi": [],
    }
    assert {mpi: own["hands_over"] for mpi, own in threads.items()} == {
        "intel-mpi": True,
        "mpich": False,
        "openmpi": False,
    }
    assert [own["slice_s"]["value"] for own in threads.values()] == [pytest.approx(0.004, rel=0.02)] * 3


def test_the_fit_tells_who_is_asked_before_a_message_travels(kept: Records) -> None:
    fitted = fit(kept)
    assert 1 << 20 < fitted.mpis["mpich"]["protocol"]["eager_bytes"]["value"] < 2 << 20  # UCX estimates what pays
    assert fitted.mpis["openmpi"]["protocol"]["eager_bytes"]["high"] < 65536


MIB = 1 << 20


def _bare(hidden: dict[int, float]) -> pd.DataFrame:
    """A launch of each size, beside a computation as long as the message: so much of it was hidden."""
    return pd.DataFrame(
        [
            {"size_bytes": size, "comm_s": 1.0, "comp_in_s": 1.0, "post_s": 0.0, "total_s": 2.0 - share}
            for size, share in hidden.items()
        ]
    )


@pytest.mark.parametrize(
    ("hidden", "nobody"),
    [
        ({MIB: 0.0, 4 * MIB: 0.0, 16 * MIB: 0.0}, False),
        ({MIB: 0.95, 4 * MIB: -0.04, 16 * MIB: -0.01}, False),  # asks first from somewhere above 1 MiB on
        ({MIB: 0.95, 4 * MIB: 0.96, 16 * MIB: 0.24}, True),  # the kernel's buffers hold 4 MiB
        ({MIB: 0.95, 4 * MIB: 0.96}, True),
    ],
)
def test_who_hides_a_long_message_and_nothing_of_a_longer_one_asks_first(
    hidden: dict[int, float], nobody: bool
) -> None:
    assert asks_nobody(_bare(hidden)) is nobody


@pytest.mark.parametrize(
    ("hidden", "limit"),
    [
        ({65536: 0.9, MIB: 0.95, 3 * MIB: 0.0, 4 * MIB: 0.0}, MIB),
        ({65536: 0.3, MIB // 8: 0.9, MIB: 0.95, 3 * MIB: 0.0}, MIB),  # the shortest was disturbed
        ({65536: 0.1, MIB: 0.0}, 32768),  # somewhere below the shortest
    ],
)
def test_one_disturbed_size_moves_no_limit(hidden: dict[int, float], limit: int) -> None:
    assert eager_limit(_bare(hidden)).value == limit


def test_what_no_record_says_is_an_error() -> None:
    with pytest.raises(UsageError, match="bare message of 1 MiB or more"):
        fit(load([REFERENCE / "model" / "collectives"]))


def _key(variant: str, size: int = 1) -> Key:
    return ("overlap-ratio", "mpich", 2, json.dumps({"size_bytes": size}), variant)


def _number(value: float, spread: float = 0.05) -> Number:
    return Number(value, value * (1 - spread), value * (1 + spread), "made up")


def test_an_error_is_relative_to_what_was_measured() -> None:
    verdict = judge(pair({_key("bare"): _number(1.1), _key("adaptive"): _number(0.8)}, {_key("bare"): _number(1.0)}))
    assert [point.error for point in verdict.points] == [pytest.approx(0.1)]
    assert verdict.error == pytest.approx(0.1)


def test_only_variants_that_differ_have_an_order() -> None:
    measured = {_key("bare"): _number(1.0), _key("off"): _number(1.02), _key("adaptive"): _number(0.5)}
    predicted = {_key("bare"): _number(0.4), _key("off"): _number(1.1), _key("adaptive"): _number(0.6)}
    verdict = judge(pair(predicted, measured))
    assert (verdict.pairs, verdict.in_order) == (2, 1)  # bare and off overlap; adaptive is not slower than bare
    assert len(verdict.wrong) == 1
    assert "adaptive and bare" in verdict.wrong[0]


def test_nothing_in_common_is_an_error() -> None:
    with pytest.raises(UsageError, match="No point was both predicted and measured"):
        judge(pair({_key("bare", 1): _number(1)}, {_key("bare", 2): _number(1)}))


def test_predictions_are_read_as_they_were_written() -> None:
    predicted = {_key("bare"): _number(1.0)}
    assert from_json(json.loads(json.dumps(to_json(predicted))), "here") == predicted
    with pytest.raises(UsageError, match="here is no file of predictions"):
        from_json([{"study": "overlap-ratio"}], "here")
