"""What of a model works otherwise in training and in eval mode."""

from __future__ import annotations

from collections.abc import Mapping

from traindx.evidence.case import Case


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
