"""The rows of `facts["weights"]` as detectors read them, and small made-up ones for their cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from traindx.core.facts import facts
from traindx.core.nouns import Run
from traindx.testing.sketch import run

_MATRICES = ("dense", "conv", "recurrent", "embedding")
_BUFFERS = ("norm_mean", "norm_variance", "norm_count", "counter", "whole_numbers")
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
    kinds = _MATRICES if embeddings else _MATRICES[:-1]
    return [
        row
        for row in rows_of(run)
        if row.get("kind") in kinds and "gain" in row and not row["name"].endswith("mask")
    ]


def moment_rows(run: Run) -> list[dict[str, Any]]:
    """One row for each tensor of an optimizer's state, with the steps that optimizer took."""
    rows: list[dict[str, Any]] = []
    for state in facts(run.facts.get("optimizer_state")):
        steps = max(state.get("steps") or [0])
        rows += [{**row, "steps": steps} for row in facts(state.get("rows"))]
    return rows


def trained_rows(run: Run) -> list[dict[str, Any]]:
    """The rows of what an optimizer may train: all but buffers."""
    return [row for row in rows_of(run) if row["kind"] not in _BUFFERS]


def parameter_names(run: Run, state: Mapping[str, Any]) -> dict[str, str]:
    """Names of an optimizer's parameters by their number; empty where shapes do not show whose they are."""
    front = "exp_avg_sq/"
    moments = [row for row in facts(state.get("rows")) if str(row["name"]).startswith(front)]
    rows = trained_rows(run)
    if [row.get("shape") for row in moments] != [row["shape"] for row in rows]:
        return {}
    return {str(moment["name"])[len(front) :]: row["name"] for moment, row in zip(moments, rows, strict=True)}


def progress(run: Run) -> float:
    """How far a checkpoint itself says that its training came: epochs or steps; 0 where it says nothing."""
    fact = run.facts.get("checkpoint")
    counters = fact.get("counters") if isinstance(fact, dict) else None
    steps = [max(state.get("steps") or [0]) for state in facts(run.facts.get("optimizer_state"))]
    return float(max([*(counters or {}).values(), *steps], default=0))


def has_moved(row: Mapping[str, Any]) -> bool | None:
    """Whether a scale, shift or bias has left what it starts with; None where a row cannot say.

    They start as constants, a bias also evenly within a bound that its weights give.
    """
    if row["kind"] in ("norm", "norm_bias") and row["size"] > 1:
        return bool(row["min"] != row["max"])
    return row.get("moved") if row["kind"] == "bias" else None


def anything_moved(run: Run) -> bool | None:
    """Whether scales, shifts and biases show a training; None where there are none that can say."""
    movements = [moved for row in rows_of(run) if (moved := has_moved(row)) is not None]
    return any(movements) if movements else None


def checkpoint(rows: Mapping[str, Mapping[str, Any]], **facts: Any) -> Run:
    """A checkpoint whose tensors are 64 x 64 and healthy where its rows do not say otherwise."""
    tensors = [
        {"name": name, "layer": name.rpartition(".")[0], "print": name, "storage": name, **_HEALTHY, **row}
        for name, row in rows.items()
    ]
    areas = {"areas": ["weights"], "summary": "", "more": ""}
    checked = {"kind": "weights", "subject": "weights", **areas}
    return run({}, facts={"checked": checked, "weights": tensors, **facts})
