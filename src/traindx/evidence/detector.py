"""What the writer of a detector imports: the nouns it speaks of, and what it is handed in."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from traindx.core.facts import Fact, facts, number, word, words
from traindx.core.nouns import Event, Finding, Place, Run, Scalar, Series, Severity, Skipped
from traindx.core.units import Detector, Example
from traindx.evidence import stats
from traindx.evidence.case import Case, Curve
from traindx.evidence.crash import Crash
from traindx.evidence.inside import Inside

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Detected = Finding | Skipped | None
Runs = Iterator[Run]
Cases = Iterator[Example]

__all__ = [
    "BoolArray", "Case", "Cases", "Crash", "Curve", "Detected", "Detector", "Event", "Fact", "Finding",
    "FloatArray", "Inside", "Place", "Run", "Runs", "Scalar", "Series", "Severity", "Skipped", "facts",
    "number", "stats", "word", "words",
]  # fmt: skip
