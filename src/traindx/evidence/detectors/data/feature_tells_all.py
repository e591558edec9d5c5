"""One feature alone gives the target away.

Each feature is looked at by itself: how well do the samples beside one in its order tell that one's target?
Seen when one feature alone tells it almost perfectly ({score_alone}), while all others together tell a good
part of it and are wrong {error_ratio} as often. Such a feature is mostly made from the target, or after it.

Silent where the other features tell nothing (the task is then that feature), under 4 features, above 64, and
under {min_data_samples} samples. Low unless the feature is as good as perfect. Known mistakes: a task that
one honest measurement really decides.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped, number
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.sampled import odd_objective, one_target_each, part
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="One feature gives the target away", needs=("fact:samples",), family="telling_feature"
)


def detect(
    case: Case,
    *,
    score_alone: float = 0.97,
    certain_score: float = 0.985,
    error_ratio: float = 6.0,
    min_score_of_others: float = 0.08,
    min_data_samples: int = 300,
) -> Detected:
    relation = part(case.inside.fact("samples"), "relation")
    best, others = number(relation, "alone"), number(relation, "without")
    kept, chance, feature = (number(relation, key) for key in ("samples", "by_chance", "feature"))
    if best is None or others is None or kept is None or kept < min_data_samples or odd_objective(case):
        return Skipped(f"at least {min_data_samples} samples of 4 to 64 features, with one target each")
    if not one_target_each(case) or chance is None:
        return Skipped()
    lacking = 1 - others
    above = max(min_score_of_others, 4 * (number(relation, "spread") or 0.0))
    if best < score_alone or lacking < error_ratio * (1 - best) or lacking < 0.05 or others - chance < above:
        return None
    sure = best >= certain_score
    return Finding(
        f"One feature alone (number {round(feature or 0)} of those that vary) predicts {percent(best)} of "
        f"the targets; all others together {percent(others)}: it may hold the answer.",
        symptom="silent_defect",
        severity="medium" if sure else "low",
        numbers={"alone": best, "without": others},
    )


def _facts(alone: float, without: float, samples: int = 800) -> dict[str, Any]:
    relation = {"alone": alone, "without": without, "feature": 3.0, "by_chance": 0.5, "told": alone}
    return {"samples": {"taken": 900, "relation": {**relation, "samples": samples, "z": 20.0, "classes": 2}}}


def fires() -> Runs:
    yield run({}, facts=_facts(0.998, 0.83))


def silent() -> Runs:
    yield run({}, facts=_facts(0.998, 0.51))
    yield run({}, facts=_facts(0.99, 0.97))
    yield run({}, facts=_facts(0.86, 0.75))
    yield run({}, facts=_facts(0.998, 0.83, samples=100))
