"""The rows of `facts["weights"]` as detectors read them, and small made-up ones for their cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from traindx.core.nouns import Run
from traindx.evidence.inside import facts

_MATRICES = ("dense", "conv", "recurrent", "embedding")
_HEALTHY = {
    "kind": "dense", "shape": [64, 64], "dtype": "float32", "size": 4096, "norm": 5.0, "mean": 0.0,
    "std": 0.08, "min": -0.3, "max": 0.3, "zero_share": 0.0, "nonfinite": 0, "nan": 0, "fan_in": 64,
    "fan_out": 64, "rows": 64, "rows_zero": 0, "rows_constant": 0, "rows_equal": 0, "gain": 0.64,
    "initial": "", "testable": False, "spectral_norm": 1.5,
}  # fmt: skip


def rows_of(run: Run) -> list[dict[str, Any]]:
    """One row for each tensor of a checkpoint."""
    return [dict(row) for row in facts(run.facts.get("weights")) if isinstance(row.get("name"), str)]


def matrices_of(run: Run, *, embeddings: bool = True) -> list[dict[str, Any]]:
    """Those of weight matrices all of whose values are finite."""
    wanted = _MATRICES if embeddings else _MATRICES[:-1]
    return [row for row in rows_of(run) if row.get("kind") in wanted and "gain" in row]


def moment_rows(run: Run) -> list[dict[str, Any]]:
    """One row for each tensor of an optimizer's state, with the steps that optimizer took."""
    found: list[dict[str, Any]] = []
    for state in facts(run.facts.get("optimizer_state")):
        steps = max(state.get("steps") or [0])
        found += [{**row, "steps": steps} for row in facts(state.get("rows"))]
    return found


def sketch(rows: Mapping[str, Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    """Facts of a checkpoint whose tensors are 64 x 64 and healthy where its rows do not say otherwise."""
    made = [
        {"name": name, "layer": name.rpartition(".")[0], "print": name, "storage": name, **_HEALTHY, **row}
        for name, row in rows.items()
    ]
    areas = {"areas": ["weights"], "summary": "", "more": ""}
    return {"checked": {"kind": "weights", "subject": "weights", **areas}, "weights": made, **more}
