"""One term of the loss is exactly zero in every value while the others are not.

A term that never differs from zero trains nothing: boxes without labels, a mask that drops every target,
a weight of 0, a head that is not connected. It is serious where the same term is not zero on validation
data (high), or where it is a term that needs targets (box, dfl, mask, keypoint, ...; medium).

Silent for other terms that have no twin on validation data (many are switched off on purpose), when the
term is zero only at times, when all terms are zero with the loss itself (see loss_masked_nan), for a class
term that is zero in training and validation alike (a detector with one class has none), and for RL and GAN
training.
"""

import re

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Series, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import decay, run

DETECTOR = Detector(
    title="A loss term is zero throughout",
    needs=("loss/*",),
    family="loss_term",
    explains=("validation_parts", "validation_bad_from_start", "memorised_unvalidated"),
    guards=("surrogate",),
)

# Words in the names of terms that are zero only when no target reaches them.
_TARGETED = frozenset(
    "box bbox dfl giou loc seg mask pose kobj kpt keypoint keypoints landmark landmarks obj".split()
)


def detect(case: Case, *, min_points: int = 3) -> Detected:
    terms = {
        name.removeprefix("loss/"): series
        for name in case.names
        if name.startswith("loss/") and "@" not in name and len(series := case.run.series[name]) >= min_points
    }
    if not terms:
        return Skipped(f"at least {min_points} values of a loss term")
    zero = [term for term, series in terms.items() if (series.values == 0).all()]
    twins = {term: size for term in zero if (size := _twin(case, term, min_points)) > 0}
    named = [*twins] or [t for t in zero if not _TARGETED.isdisjoint(re.split(r"[^a-z]+", t.lower()))]
    alive = [term for term, series in terms.items() if _size(series) > 0]
    loss = case.loss
    whole_alive = loss is not None and len(loss) > 0 and bool((loss.y != 0).any())
    if not named or not (alive or whole_alive or twins):
        return None
    return _seen(named, alive, twins, terms)


def _seen(named: list[str], alive: list[str], twins: dict[str, float], terms: dict[str, Series]) -> Finding:
    list_of = " and ".join(named[:3])
    values = len(terms[named[0]])
    words = f"The loss term {list_of} is exactly 0 in all {values} values"
    if len(named) > 1:
        words = f"The loss terms {list_of} are exactly 0 in all {values} values"
    if twins:
        sizes = " and ".join(text(twins[term]) for term in named[:3])
        words += f" of training, while on validation data the same is {sizes}"
    elif alive:
        other = terms[alive[0]]
        words += f", while {alive[0]} goes from {text(_first(other))} to {text(_last(other))}"
    first = float(terms[named[0]].steps[0])
    return Finding(
        words + ".",
        "silent_defect" if alive else "not_learning",
        "high" if twins else "medium",
        step=first,
        series=f"loss/{named[0]}",
        strength=1.0 if twins else 0.8,
        numbers={"term": list_of, "zero_terms": len(named)},
    )


def _size(series: Series) -> float:
    """The median size of a term's finite values."""
    finite = series.values[np.isfinite(series.values)]
    return float(np.median(np.abs(finite))) if finite.size else 0.0


def _twin(case: Case, term: str, least: int) -> float:
    """The size of the same term on validation data, 0 when it is not there."""
    for split in ("val", "test"):
        series = case.run.series.get(f"{split}/loss/{term}")
        if series is not None and len(series) >= least:
            return _size(series)
    return 0.0


def _first(series: Series) -> float:
    return float(series.values[np.isfinite(series.values)][0])


def _last(series: Series) -> float:
    return float(series.values[np.isfinite(series.values)][-1])


def fires() -> Runs:
    cls = decay(50, 113.0, 0.03, rate=9)
    twins = {"val/loss/box": [3.5] * 50, "val/loss/dfl": [4.2] * 50}
    yield run({"loss": cls, "loss/cls": cls, "loss/box": [0.0] * 50, "loss/dfl": [0.0] * 50, **twins})
    yield run({"loss": cls, "loss/cls": cls, "loss/box": [0.0] * 50})


def silent() -> Runs:
    box = decay(50, 2.0, 1.0)
    yield run({"loss": box, "loss/box": box, "loss/obj": box})
    yield run({"loss": box, "loss/main": box, "loss/aux": [0.0] * 50})
    yield run({"loss": box, "loss/box": box, "loss/kl": [*[0.0] * 20, *[0.1] * 30]})
    yield run({"loss": [0.0] * 9, "loss/box": [0.0] * 9, "loss/obj": [0.0] * 9})
    yield run({"loss": box, "loss/policy": box, "loss/value": [0.0] * 50}, traits=("rl",))
