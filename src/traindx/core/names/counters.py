"""Names that count: steps, iterations, epochs."""

from __future__ import annotations

import re

from traindx.core.names.understand import english
from traindx.core.names.vocabulary import COUNTERS, FOREIGN
from traindx.core.nouns import Axis


def counter_rank(raw: str) -> int | None:
    """How well a name serves as the step (0 best), None when it is no counter."""
    counter = COUNTERS.get(_counter_key(raw))
    return counter[0] if counter else None


def axis_of(raw: str) -> Axis | None:
    """What a counter counts: steps or epochs."""
    counter = COUNTERS.get(_counter_key(raw))
    return counter[1] if counter else None


# Columns of spaCy's table, and Marian's abbreviations.
_SHORT_COUNTERS = {"#": "step", "E": "epoch", "Up.": "update", "Ep.": "epoch"}


def _counter_key(raw: str) -> str:
    if raw.strip() in _SHORT_COUNTERS:
        return _SHORT_COUNTERS[raw.strip()]
    key = re.sub(r"[^a-z0-9]+", "_", english(raw).strip().lower()).strip("_")
    key = FOREIGN.get(key, key)
    for lead in ("train_", "trainer_", "training_"):
        if key.startswith(lead) and key[len(lead) :] in COUNTERS:
            return key[len(lead) :]
    return key
