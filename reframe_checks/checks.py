# SPDX-License-Identifier: BSD-3-Clause
"""A check for each study of a file. A study itself needs no ReFrame, which takes longer to import than all studies."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from reframe_checks.study import Study

REGISTRY = "_rfm_test_registry"  # the attribute by which a file has checks for ReFrame


def checks(module: str, studies: Sequence[Study]) -> Callable[[str], Any]:
    """The `__getattr__` of a file of studies: the checks are made when ReFrame asks the file for them."""

    def asked_for(name: str) -> Any:
        if name != REGISTRY:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return _made(module, studies)

    return asked_for


def _made(module: str, studies: Sequence[Study]) -> Any:
    import reframe as rfm  # noqa: PLC0415 - see above
    from reframe.core.decorators import TestRegistry  # noqa: PLC0415
    from reframe.core.meta import make_test  # noqa: PLC0415

    from reframe_checks.base_check import WorkloadCheck  # noqa: PLC0415

    registry = TestRegistry()
    setattr(sys.modules[module], REGISTRY, registry)
    for study in studies:
        rfm.simple_test(make_test(study.check_name, (WorkloadCheck,), {"study": study}, module=module))
    return registry
