"""What of a model works otherwise in training and in eval mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from traindx.core.nouns import Event, Run
from traindx.evidence.case import Case
from traindx.testing.sketch import decay, run


def what_modes_change(case: Case) -> str:
    """`dropout`, `batch norm`, both, or nothing."""
    parts = []
    for model in case.inside.models:
        rates, norms = model.get("dropout"), model.get("normalisation")
        if isinstance(rates, list) and any(isinstance(rate, int | float) and rate > 0 for rate in rates):
            parts.append("dropout")
        if isinstance(norms, Mapping) and any("BatchNorm" in str(name) for name in norms):
            parts.append("batch norm")
    return " and ".join(dict.fromkeys(parts))


def with_dropout(events: Sequence[Event], *, dropout: float = 0.5) -> Run:
    """A training of a model with dropout, for the cases of detectors."""
    model = {"class": "Net", "parameters": 10, "dropout": [dropout], "normalisation": {}}
    return run({"loss": decay(160, 2.0, 0.2)}, facts={"models": [model]}, events=events)
