# SPDX-License-Identifier: BSD-3-Clause
"""What harness and analysis each know by themselves, because neither imports the other's, is the same."""

from __future__ import annotations

from analysis.catalogue import CHAPTERS
from analysis.claims import requirements
from analysis.metrics import limit
from analysis.tests import synthetic
from harness.base import machine, variants
from reframe_checks.catalogue import studies


def test_variants_and_drivers_have_one_name() -> None:
    assert limit.LIMIT == variants.LIMIT
    assert set(synthetic.WITHOUT_ENGINE) == set(variants.WITHOUT_ENGINE)
    assert requirements.RDMA_DRIVERS == machine.RDMA_DRIVERS


def test_every_study_that_is_run_is_one_that_the_analysis_knows() -> None:
    alone = [name for name in studies() if not any(chapter.covers(name) for chapter in CHAPTERS)]
    assert not alone, "their records would be decided by nobody"
    assert all({"test", "quick", "paper"} <= set(study.scales) for study in studies().values() if study.of_a_paper)
