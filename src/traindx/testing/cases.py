"""The cases of a detector, wherever it stands: alone in its module (`fires`, `silent`) or among its kin."""

from __future__ import annotations

import importlib
from typing import Any

from traindx.core.units import Detector


def cases_of(unit: Detector) -> tuple[list[Any], list[Any]]:
    """What it must fire on, and what it must be silent on."""
    module = importlib.import_module(unit.module)
    if not hasattr(module, "cases"):
        return list(module.fires()), list(module.silent())
    own = [one for one in module.cases() if one.detector == unit.id]
    return [one.seen for one in own if one.fires], [one.seen for one in own if not one.fires]
