"""Many series of one kind as one line: the gradient norm of a hundred layers is their median."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from traindx.core.names import METRICS, is_secondary
from traindx.core.nouns import Series

_LEAST_LAYERS = 2
_LEAST = 4
_RANK = re.compile(r"/rank\d+(?=@|$)")


@dataclass(frozen=True, eq=False)
class Family:
    """Series that differ only in their layer, group or rank, and one curve that represents all of them."""

    curve: Series
    members: tuple[Series, ...]


def families(series: Iterable[Series]) -> list[Family]:
    """Series in their order; those of layers and ranks, or four and more of a kind, as one."""
    alike: dict[str, list[Series]] = {}
    for member in series:
        alike.setdefault(_kind(member.name), []).append(member)
    groups = []
    for kind, members in alike.items():
        if len(members) < (_LEAST_LAYERS if is_secondary(members[0].name) else _LEAST):
            groups += [Family(member, (member,)) for member in members]
        else:
            groups.append(Family(_middle(kind, members), tuple(members)))
    return groups


def _kind(name: str) -> str:
    """`grad_norm/*` for a layer, `loss/rank*` for a rank; the name itself for any other series."""
    plain = _RANK.sub("/rank*", name)
    head, slash, _ = plain.partition("/")
    if not slash or head in ("printed", "logged", "observed", "val", "test"):
        return plain
    ranked = "/rank*" if plain != name else ""
    layers = is_secondary(f"{head}/") or (head in METRICS and METRICS[head].goal == "none")
    return f"{head}/*{ranked}" if layers and plain != f"{head}/rank*" else plain


def _middle(kind: str, members: Sequence[Series]) -> Series:
    """The median of those with the same steps as the longest, else the longest."""
    longest = max(members, key=len)
    alike = [member for member in members if np.array_equal(member.steps, longest.steps)]
    values = longest.values
    if len(alike) > 1:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # a step at which all are NaN
            values = np.nanmedian([member.values for member in alike], axis=0)
    derived = f"median of {len(members):,}" if len(alike) > 1 else f"the longest of {len(members):,}"
    return Series(kind, longest.steps, values, kind, derived=derived, times=longest.times, axis=longest.axis)
