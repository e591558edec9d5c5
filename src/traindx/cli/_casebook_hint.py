"""What worked in this project before, beside a diagnosis."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from traindx.experiment.casebook import for_cause, path_of, sentence
from traindx.report.document import Items
from traindx.report.to_terminal import lines

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis
    from traindx.report.layout import Screen

_CAUSES_MOST = 3
_SHOWN_MOST = 3


def remembered(diagnosis: Diagnosis, screen: Screen) -> Iterator[str]:
    """Lines of the casebook of the working directory that speak of the likely causes."""
    with contextlib.suppress(OSError):
        if not path_of().exists():
            return
    causes = [h.cause for problem in diagnosis.problems[:1] for h in problem.hypotheses[:_CAUSES_MOST]]
    sentences = tuple(sentence(entry) for cause in causes for entry in for_cause(cause))
    if sentences:
        yield ""
        yield from lines([Items(sentences[:_SHOWN_MOST], "before")], screen)
