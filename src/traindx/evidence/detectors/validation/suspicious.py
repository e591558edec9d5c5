"""Validation that is too good, or knows too little."""

from typing import Any

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped, number
from traindx.evidence.detectors._number_text import count, percent, text, where
from traindx.evidence.sampled import ends, odd_objective, part
from traindx.evidence.validation import evaluations
from traindx.testing.sketch import decay, noisy, run

_PICKS = frozenset({"Index", "IndexSelect", "MaskedSelect"})
_RARE = ("recall", "f1", "precision")


@Detector(
    "Suspiciously perfect validation",
    needs=("val/accuracy|test/accuracy|val/f1|val/auc|val/map|val/map50|map|map50",),
    family="validation_level",
    guards=("surrogate",),
)
def validation_perfect(
    case: Case,
    *,
    perfect_score: float = 0.99,
    perfect_map: float = 0.97,
    early_share: float = 0.2,
    min_points: int = 5,
) -> Detected:
    """Validation scores are almost perfect, and were so early.

    Seen when a validation accuracy, F1, AUC or mAP50 stands at {perfect_score} or above over the last tenth
    and got there within the first fifth of the evaluations; for mAP50-95, where annotators themselves agree
    less, {perfect_map}. An easy task looks like this, and so do validation data that are also in the
    training set: a sign, and of low weight by itself. An mAP50-95 of {perfect_map} from the first tenth on
    is told as a possible defect, still low.

    Silent with fewer than {min_points} evaluations and for RL and GAN training. Known mistakes: MNIST and
    other solved tasks; pixel accuracy where almost every pixel is background.
    """
    curves = [
        curve
        for name in ("map", "accuracy", "f1", "auc", "map50")
        if (curve := case.val(name)) is not None and len(curve) >= min_points and shares(curve) is not None
    ]
    if not curves:
        return Skipped(f"at least {min_points} evaluations of an accuracy, F1, AUC or mAP")
    for curve in curves:
        limit = perfect_map if curve.name.endswith("map") else perfect_score
        finding = _early_perfect(curve, limit, early_share)
        if finding is not None:
            return finding
    return None


def _early_perfect(curve: Curve, limit: float, early: float) -> Finding | None:
    steps, values = evaluations(curve)
    values = values / (100.0 if values.max() > 1.5 else 1.0)
    last = float(np.median(values[-max(3, values.size // 10) :]))
    if last < limit:
        return None
    reached = int((values >= limit).argmax())
    if reached > max(1.0, early * values.size):
        return None
    striking = curve.name.endswith("map") or last >= 0.999
    at_once = reached <= max(1.0, 0.5 * early * values.size)
    step = float(steps[reached])
    return Finding(
        f"{curve.name} stands at {text(last)} and was at {text(float(values[reached]))} as early as "
        f"{where(curve, step)}, evaluation {reached + 1} of {values.size}.",
        "silent_defect" if curve.name.endswith("map") and at_once else None,
        "low",
        step=step,
        series=curve.name,
        strength=0.6 if striking and at_once else 0.4,
        numbers={"score": last, "reached_at": step},
        marks=(step,),
    )


@Detector("Validation data seen in training", needs=("fact:samples",), family="leak")
def validation_seen(
    case: Case,
    *,
    known_share: float = 0.02,
    min_known: int = 6,
    batch_share: float = 0.75,
    min_features: int = 4,
    max_duplicates_share: float = 0.02,
    max_duplicates_if_few: float = 0.002,
    own_values: float = 0.5,
) -> Detected:
    """Samples of the validation data were among those trained on.

    Samples are known again by a print of their values. Seen when known ones turn up in at least half of the
    validation batches looked at, as many as the part of the training data that was looked at lets expect.

    Silent where training samples repeat among themselves (few possible inputs, windows of a text; a few in a
    thousand are enough to doubt all but a majority of known ones; not where {own_values:%} of the numbers in
    a batch occur once: no two such samples are alike unless one is a copy, as of a rare class before the
    split), for inputs of under {min_features} features, and where some validation batches hold only known
    samples and others none: then the training data are evaluated as well. So it is where the loss picks some
    of the model's answers by a mask or an index: the nodes of a graph are all given at every step. An
    evaluation that the script does not call validation or test is a sign only. Known mistakes: the training
    data called validation on purpose.
    """
    samples = case.inside.fact("samples")
    held_out = part(samples, "validation")
    checked, shared = number(held_out, "taken"), number(held_out, "known")
    batches, trained = number(held_out, "batches"), number(samples, "taken")
    if not checked or shared is None or not batches or not trained or odd_objective(case):
        return Skipped("inputs of training and of validation")
    if any(_PICKS.intersection(ends(loss)[:2]) for loss in case.inside.losses):
        return Skipped("samples that are all trained on: the loss picks some of the answers")
    alike = (number(samples, "twice_in_a_batch") or 0.0) / trained
    usual = max_duplicates_share if shared > 0.5 * checked else max_duplicates_if_few
    copied = (number(samples, "levels") or 0.0) >= own_values
    if (number(samples, "features") or 0) < min_features or (alike > usual and not copied):
        return Skipped()
    distinct = number(held_out, "distinct") or checked
    repeats = checked / max(1.0, distinct)
    if shared / repeats < min_known or shared < known_share * checked:
        return None
    if (number(held_out, "batches_with_known") or 0) < batch_share * batches:
        return None
    declared = _declared(case)
    return Finding(
        f"{percent(shared / checked)} of the checked validation samples were among the {count(trained)} "
        "training samples checked.",
        symptom="silent_defect" if declared else None,
        severity="high",
        strength=1.0 if declared else 0.3,
        numbers={"known": shared, "share": shared / checked},
    )


def _declared(case: Case) -> bool:
    """Whether the script itself tells of validation: what was only observed may be the training data."""
    series = case.run.series
    return any(
        name.startswith("observed/") or (name.startswith(("val/", "test/")) and curve.source != name)
        for name, curve in series.items()
    )


def _facts(shared: int, with_known: int, **fields: float) -> dict[str, Any]:
    held_out = {
        "batches": 10,
        "batches_with_known": with_known,
        "taken": 640,
        "distinct": 300,
        "known": shared,
    }
    samples = {"taken": 900, "distinct": 700, "twice_in_a_batch": 0, "came_again": 200, "features": 20}
    return {"samples": {**samples, "validation": held_out, **fields}}


@Detector(
    "Rare class ignored",
    needs=("recall|precision|f1|val/recall|val/precision|val/f1",),
    family="rare_class",
    guards=("surrogate",),
)
def rare_class_ignored(
    case: Case,
    *,
    zero: float = 0.005,
    accuracy: float = 0.7,
    loss_left: float = 0.5,
    hardly: float = 0.25,
    high_accuracy: float = 0.9,
    min_points: int = 5,
) -> Detected:
    """The loss is low or the accuracy high, and recall or F1 of the rare class is zero or close to it.

    A model that answers the frequent class every time is right as often as that class occurs, and finds none
    of the rare one. Seen when a logged recall, precision or F1 is at most {zero} in the second half of at
    least {min_points} evaluations, while the accuracy of the same data is {accuracy} or more, or, where none
    is logged, the training loss came down to {loss_left} of its start. Seen, too, when recall or F1 is at
    most {hardly} there and the accuracy {high_accuracy} or more: most of what matters is missed.

    Silent without such a score, and where it left zero later in the run.
    """
    checked = False
    loss = case.loss
    learned = loss is not None and len(loss) >= min_points and 0 <= loss.tail <= loss_left * loss.head
    learned = learned and not case.has("map|map50|val/map|val/map50")  # a detector has no rare class alone
    for find in (case.val, case.part_of):
        right = shares(find("accuracy"))
        for name in _RARE:
            curve = find(name)
            score = shares(curve)
            if curve is None or score is None or score.size < min_points:
                continue
            checked = True
            late = float(score[score.size // 2 :].max())
            level = float(np.median(right[-3:])) if right is not None else 0.0
            missed = late <= hardly and level >= high_accuracy and name != "precision"
            if missed or (late <= zero and (level >= accuracy or (right is None and learned))):
                well = f"the accuracy is {text(level)}" if right is not None else "the loss came down"
                return Finding(
                    f"{curve.name} is {text(late)} at most in the second half of {score.size} evaluations "
                    f"while {well}: the rare class is {'hardly ever' if late > zero else 'never'} answered.",
                    "not_learning",
                    "medium",
                    step=float(curve.x[0]),
                    series=curve.name,
                    numbers={"accuracy": level} if right is not None else {},
                )
    return None if checked else Skipped(f"at least {min_points} values of a recall, precision or F1")


def cases() -> Cases:
    yield from validation_perfect.fires(
        run({"val/map": 0.994 - decay(60, 0.4, 0.0, rate=40), "val/map50": [0.995] * 60}, axis="epoch"),
        run({"val/accuracy": [97.0, *[100.0] * 19]}, axis="epoch"),
        run({"val/accuracy": [0.98, *[0.993] * 19]}, axis="epoch"),
    )
    yield from validation_perfect.silent(
        run({"val/accuracy": 0.995 - decay(50, 0.8, 0.0, rate=5)}, axis="epoch")
    )
    yield from validation_perfect.silent(run({"val/accuracy": [0.97] * 20}, axis="epoch"))
    yield from validation_perfect.silent(run({"val/accuracy": [0.999, 1.0, 1.0]}, axis="epoch"))
    yield from validation_seen.fires(run({"observed/val/loss": [1.0, 0.5]}, facts=_facts(500, 10)))
    yield from validation_seen.fires(run({}, facts=_facts(120, 10)))
    yield from validation_seen.fires(run({}, facts=_facts(250, 10, twice_in_a_batch=20, levels=0.97)))
    yield from validation_seen.silent(
        run({}, facts=_facts(0, 0)),
        run({}, facts=_facts(400, 5)),
        run({}, facts=_facts(400, 10, twice_in_a_batch=300)),
        run({"observed/val/loss": [1.0, 0.5]}, facts=_facts(85, 10, twice_in_a_batch=13)),
        run({}, facts=_facts(400, 10, features=2)),
    )
    picked = [{"function": "nll_loss", "after_layers": ["Index", "LogSoftmax", "Mm"]}]
    yield from validation_seen.silent(
        run({"observed/val/loss": [1.0, 0.5]}, facts={**_facts(640, 10), "losses": picked})
    )
    yield from rare_class_ignored.fires(
        run({"val/accuracy": noisy([0.97] * 12, 0.002), "val/recall": [0.0] * 12}, axis="epoch"),
        run({"loss": decay(12, 0.7, 0.01), "val/recall": [0.0] * 12}, axis="epoch"),
    )
    yield from rare_class_ignored.silent(
        run({"val/accuracy": noisy([0.97] * 12, 0.002), "val/recall": [0.0] * 3 + [0.4] * 9}, axis="epoch"),
        run({"val/accuracy": noisy([0.97] * 12, 0.002)}, axis="epoch"),
    )
