"""How far from a target its token stands in the input, as the recorder counted it over the first batches."""

from __future__ import annotations

from collections.abc import Mapping

from traindx.core.facts import number
from traindx.evidence.case import Case
from traindx.evidence.sampled import part


def token_offsets(case: Case) -> Mapping[int, float]:
    """The share of targets that are the input token so many places on; empty where there are no tokens."""
    recorded = case.inside.fact("token_offsets") or part(case.inside.fact("samples"), "token_offsets")
    return {int(key): number(recorded, key) or 0.0 for key in recorded if key.lstrip("-").isdigit()}


def only_offset(shares: Mapping[int, float], *, same_share: float, other_share: float) -> int | None:
    """The one distance that fits nearly all targets; None where none does, or several."""
    offset, share = max(shares.items(), key=lambda item: item[1])
    several = any(rival >= other_share for key, rival in shares.items() if key != offset)
    return None if share < same_share or several else offset
