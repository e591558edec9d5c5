"""A scaler, or another transform that learns, is fitted on data it will be tested on.

Seen when `fit` or `fit_transform` of a scikit-learn transform gets the data before `train_test_split`
takes it apart, or gets the test part itself after one of its names.

It leaks the test data's statistics: seldom decisive, told as doubtful unless it is fitted again on the
test part. Silent when the transform is fitted on the training part only. Known mistake: none yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.core.nouns import Finding, Skipped
from traindx.core.units import Detector
from traindx.evidence.case import Case
from traindx.evidence.detectors._script.samples import script
from traindx.evidence.detectors._script.words import Looked, code, first, training_of, where
from traindx.source import Script
from traindx.source.edit_pieces import place
from traindx.source.execution import Event
from traindx.source.values import Made, Value, options

DETECTOR = Detector(title="transform fitted on all data", needs=("script",), family="script_leak")
_LEARNING = ("Scaler", "PCA", "Imputer", "Transformer", "Normalizer", "KBest", "Percentile", "Vectorizer")
_PARTS = (
    "s = StandardScaler()\nXa, Xb, ya, yb = train_test_split(X, y)\nXa = s.fit_transform(Xa)\nXb = s.{}(Xb)"
)
_TOP = (
    "from sklearn.preprocessing import StandardScaler\nfrom sklearn.model_selection import train_test_split"
)


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None:
        return Skipped("a script that can be followed")
    fits = [e for e in training.trace.methods("fit", "fit_transform") if _transform(e.value.receiver)]
    if not fits:
        return Skipped("a transform of scikit-learn")
    splits = [e for e in training.trace.events if e.value.short in ("train_test_split", "random_split")]
    found: dict[int, Finding] = {}
    for event in fits:
        given = event.value.args[0] if event.value.args else None
        if given is None:
            continue
        after = next((s for s in splits if s.at > event.at and _splits(s, given, event)), None)
        if after is not None:
            found.setdefault(
                id(event.spot.node), _finding(event, f"sees all data before line {after.spot.line} splits it")
            )
        elif _is_test_part(given, splits) and len(fits) > 1:
            found.setdefault(id(event.spot.node), _finding(event, "is fitted on the test data itself"))
    return [*found.values()]


def _transform(value: Value | None) -> bool:
    return any(
        isinstance(one, Made) and one.name.startswith("sklearn.") and one.short.endswith(_LEARNING)
        for one in options(value)
    )


def _splits(split: Event, given: Value, fit: Event) -> bool:
    """Whether a split takes apart what was fitted on, or what came of it."""
    return any(_from(one, given, fit.value) for one in split.value.args)


def _from(value: Value, given: Value, fitted: Made) -> bool:
    """Whether a value is the data, or the transformed data."""
    for _ in range(12):
        if value is given or value is fitted:
            return True
        if (
            isinstance(value, Made)
            and value.kind == "method"
            and value.receiver is fitted.receiver
            and value.args
        ):
            return True
        if not isinstance(value, Made):
            return False
        inner = value.args[0] if value.kind == "call" and value.args else value.receiver
        if inner is None:
            return False
        value = inner
    return False


def _is_test_part(given: Value, splits: list[Event]) -> bool:
    """Whether a value is the second part of a split."""
    if not isinstance(given, Made) or given.kind != "item" or not given.args:
        return False
    made = any(given.receiver is split.value for split in splits)
    return made and getattr(given.args[0], "value", None) == 1


def _finding(event: Event, why: str) -> Finding:
    severe = "the test data itself" in why
    text = f"{where(event.spot)}: {code(event.spot)} {why}: what it learns leaks."
    return Finding(text, "silent_defect", "medium" if severe else "low", places=(place(event.spot),))


def fires() -> Iterator[Script]:
    yield script(
        top=_TOP, setup="X = StandardScaler().fit_transform(X)\nXa, Xb, ya, yb = train_test_split(X, y)"
    )
    yield script(
        top=_TOP,
        setup=_PARTS.format("fit_transform"),
    )


def silent() -> Iterator[Script]:
    yield script(
        top=_TOP,
        setup=_PARTS.format("transform"),
    )
    yield script(top=_TOP, setup="X = StandardScaler().fit_transform(X)")
    yield script(top=_TOP, setup="Xa, Xb, ya, yb = train_test_split(X, y)")
