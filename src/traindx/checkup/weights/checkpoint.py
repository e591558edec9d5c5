"""A checkpoint as a run: `facts["weights"]` has a row for each tensor."""

from __future__ import annotations

from typing import Any

from traindx.checkup.target import CheckRequest, checked
from traindx.checkup.weights.layer_kinds import kinds_of
from traindx.checkup.weights.measure import measured, statistics
from traindx.checkup.weights.tensors import Checkpoint
from traindx.core.nouns import Note, Run, Unreadable

_MORE = "Weights alone do not show whether a training goes well; its log does (traindx diagnose PATH)."


def run(request: CheckRequest) -> Run:
    """What was measured of one checkpoint."""
    if len(request.targets) > 1:
        raise Unreadable("several checkpoints cannot be compared yet: give one")
    checkpoint = opened(request.targets[0], trust_code=request.trust_code)
    facts = measured_checkpoint(checkpoint)
    return checked(
        request,
        "weights",
        facts,
        areas=("weights",),
        subject="weights",
        summary=_summary(facts["weights"]),
        more=_MORE,
        notes=[Note(checkpoint.path, text) for text in checkpoint.notes],
        files=checkpoint.files,
    )


def opened(path: str, *, trust_code: bool = False) -> Checkpoint:
    """A checkpoint by the reader of its format; raises Unreadable with one line."""
    from traindx.checkup.weights import safetensors, torch_file

    try:
        if path.lower().endswith(".safetensors"):
            return safetensors.read(path)
        return torch_file.read(path, trust_code=trust_code)
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None


def measured_checkpoint(checkpoint: Checkpoint) -> dict[str, Any]:
    """All facts of a checkpoint; tensors are read one after another."""
    tensors = list(checkpoint.tensors)
    kinds = kinds_of(tensors)
    rows = [measured(one, kinds[one.name], checkpoint.layout) for one in tensors]
    for row in rows:
        row.pop("sample", None)
    return {
        "weights": rows,
        "checkpoint": {
            "format": checkpoint.format,
            "parts": list(checkpoint.parts),
            "counters": dict(checkpoint.counters),
            "parameters": sum(row["size"] for row in rows),
        },
        "optimizer_state": [
            {
                "groups": [
                    {
                        key: value
                        for key, value in group.items()
                        if isinstance(value, int | float | str | bool)
                    }
                    for group in one.groups
                ],
                "steps": [min(one.steps), max(one.steps)] if one.steps else [],
                "parameters": one.parameters,
                "rows": [
                    {"name": part.name, "shape": list(part.shape), **statistics(part.load())}
                    for part in one.tensors
                ],
            }
            for one in checkpoint.optimizers
        ],
    }


def _summary(rows: list[dict[str, Any]]) -> str:
    dtypes = ", ".join(
        dict.fromkeys(row["dtype"] for row in rows if row["kind"] not in ("counter", "norm_count"))
    )
    return f"{len(rows):,} tensors, {sum(row['size'] for row in rows):,} values, {dtypes}"
