"""The rows of `facts["weights"]` as detectors read them, and small made-up ones for their cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from traindx.core.nouns import Run
from traindx.evidence.inside import facts


def rows_of(run: Run) -> list[dict[str, Any]]:
    """One row for each tensor of a checkpoint."""
    return [dict(row) for row in facts(run.facts.get("weights")) if isinstance(row.get("name"), str)]


def sketch(rows: Mapping[str, Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    """Facts of a checkpoint whose tensors are 64 x 64 and as healthy as its rows do not say otherwise."""
    healthy = {
        "kind": "dense", "shape": [64, 64], "dtype": "float32", "size": 4096, "norm": 5.0, "mean": 0.0,
        "std": 0.08, "min": -0.3, "max": 0.3, "zero_share": 0.0, "nonfinite": 0, "nan": 0, "fan_in": 64,
        "fan_out": 64, "rows": 64, "rows_zero": 0, "rows_constant": 0, "rows_equal": 0, "gain": 0.64,
        "initial": "", "spectral_norm": 1.5,
    }  # fmt: skip
    made = [
        {"name": name, "layer": name.rpartition(".")[0], "print": name, "storage": name, **healthy, **row}
        for name, row in rows.items()
    ]
    checked = {"kind": "weights", "subject": "weights", "summary": "", "more": ""}
    return {"checked": checked, "weights": made, **more}
