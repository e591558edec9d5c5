"""Every sample has its script in the plan of `make samples`, and every script its sample."""

from __future__ import annotations

import runpy
from pathlib import Path

SAMPLES = Path(__file__).parent / "samples"
SHARED = {"__main__", "record_version"}


def test_the_plan_is_complete() -> None:
    plan = runpy.run_path(str(SAMPLES / "make" / "__main__.py"))["PLAN"]
    scripts = {path.stem for path in (SAMPLES / "make").glob("*.py")} - SHARED
    assert set(plan) == scripts
    for script, (folder, _) in plan.items():
        assert (SAMPLES / folder).is_dir(), f"{script} should have written {folder}"
