"""No target reaches the loss: all of them are ignored, or all are one and the same class.

Seen when every target looked at is the number that cross-entropy passes over (-100), in at least three of
four looks; or when all classes ever met are one.

Silent where only a part is ignored, as in language models that learn answers only. Under {min_targets}
targets a single class says nothing. Known mistakes: training with one class on purpose (real against
made-up).
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.sampled import odd_objective, sampled
from traindx.testing.sketch import run

DETECTOR = Detector(title="No targets", needs=("target/*",), family="targets")


def detect(
    case: Case, *, empty_share: float = 0.75, min_targets: int = 100, min_samples: int = 2
) -> Detected:
    ignored = sampled(case, "target/ignored_share", min_samples)
    counts = {key: n for key, n in case.inside.fact("classes").items() if isinstance(n, int) and n > 0}
    if ignored is None:
        return Skipped()
    empty = float((ignored.y >= 0.999).mean())
    if empty >= empty_share:
        sentence = f"In {percent(empty)} of the samples every target is one that the loss ignores (-100)."
        return Finding(sentence, "silent_defect", "high", float(ignored.x[0]))
    if len(counts) == 1 and sum(counts.values()) >= min_targets and len(case.inside.losses) == 1:
        if odd_objective(case):
            return Skipped()
        sentence = f"All {sum(counts.values())} sampled targets are class {next(iter(counts))}."
        return Finding(sentence, "silent_defect", "high", float(ignored.x[0]), strength=0.6)
    return None


def fires() -> Runs:
    yield run({"target/ignored_share": [1.0] * 5})
    facts = {"classes": {"0": 400}, "losses": [{"function": "cross_entropy"}]}
    yield run({"target/ignored_share": [0.0] * 5}, facts=facts)


def silent() -> Runs:
    yield run({"target/ignored_share": [0.8, 0.7, 0.9, 0.85]})
    yield run({"target/ignored_share": [0.0] * 5}, facts={"classes": {"0": 400, "1": 90}})
