"""Several trainings in one log: what its script calls each of them.

A script that names its folds, stages or seeds prints the name with its numbers (`fold 3 epoch 10 loss 0.2`),
as a heading before a training (`Fold 3/5`), or with the result after it (`fold 3: accuracy 0.91`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.nouns import Phase
from traindx.logs.log import Log

if TYPE_CHECKING:
    from traindx.logs.recordings import RecordingPart

_WORDS = "fold stage phase split seed trial round task repeat restart member".split()
_NAMED = re.compile(rf"\b({'|'.join(_WORDS)})\b[\s#:=]{{0,3}}(\d{{1,6}})\b", re.IGNORECASE)
_LONGEST = 200_000

Names = list[tuple[str, str]]


def phases_of(logs: Sequence[Log]) -> list[Phase | None]:
    """The phase that each log is; None where it is the only one, or a run with a name of its own."""
    if len(logs) < 2 or any(log.name for log in logs):
        return [None] * len(logs)
    names = _distinct([_by_column(log) or log.phase for log in logs])
    lengths = [
        max((float(column.steps[-1]) for column in log.columns if column.steps.size), default=0.0)
        for log in logs
    ]
    before = np.concatenate([[0.0], np.cumsum(lengths)])
    return [Phase(number, len(logs), name, float(before[number - 1])) for number, name in enumerate(names, 1)]


def _by_column(log: Log) -> str:
    """The word that is a column of one value: it was printed with every line."""
    for word in _WORDS:
        for column in log.columns:
            if column.name.lower() == word and np.unique(column.values).size == 1:
                return f"{word} {column.values[0]:g}"
    return ""


def _distinct(names: Sequence[str]) -> Sequence[str]:
    """Names by which each can be recognised, else none."""
    kinds = {name.partition(" ")[0] for name in names}
    return names if len(set(names)) == len(names) and len(kinds) == 1 else [""] * len(names)


def printed_names(parts: Sequence[RecordingPart]) -> list[str]:
    """What was printed as a heading before each part of a recording, or with its result."""
    if len(parts) < 2:
        return [""] * len(parts)
    inside, after = zip(*map(_around_the_end, parts), strict=True)
    if inside[0]:
        # A heading stands before its training: that of the next one is the last thing before it.
        headings = [names_after[-1:] for names_after in after[:-1]]
        return [
            _most_frequent(names_inside or heading)
            for names_inside, heading in zip(inside, [[], *headings], strict=True)
        ]
    return [_most_frequent(names_after[:1]) for names_after in after]


def _around_the_end(part: RecordingPart) -> tuple[Names, Names]:
    """What was named before the last step of a part, and what after it."""
    last = part.rows.last
    inside: list[str] = []
    after: list[str] = []
    for piece in part.output:
        there = inside if last is not None and piece.step is not None and piece.step < last[0] else after
        there.append(piece.text)
    return _names("".join(inside)), _names("".join(after))


def _names(text: str) -> Names:
    return [(word.lower(), number) for word, number in _NAMED.findall(text[-_LONGEST:])]


def _most_frequent(names: Names) -> str:
    return " ".join(Counter(names).most_common(1)[0][0]) if names else ""
