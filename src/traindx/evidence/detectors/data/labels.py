"""The labels over the batches."""

import itertools
from typing import Any

import numpy as np

from traindx.core.facts import sizes
from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Run, Skipped, number
from traindx.evidence.detectors._number_text import percent, strength, text, times
from traindx.evidence.sampled import odd_objective, sampled, training_loader
from traindx.testing.sketch import run


@Detector("Labels change between passes", needs=("fact:samples",), family="label_sense")
def labels_change(
    case: Case,
    *,
    changed_share: float = 0.2,
    min_repeats: int = 20,
    min_features: int = 4,
    max_duplicates_share: float = 0.02,
) -> Detected:
    """The same input comes with another label than before.

    Samples are known again by a print of their values. Seen when a fifth of those that came again had
    another class than the first time: inputs were shuffled without their labels, or labels are drawn anew.

    Silent under {min_repeats} samples that came again, for inputs of under {min_features} features, where
    samples repeat within a batch (few possible inputs), and for real-valued targets. Known mistakes: labels
    that are random on purpose.
    """
    samples = case.inside.fact("samples")
    repeats, changed = number(samples, "came_again"), number(samples, "relabelled")
    if repeats is None or changed is None or repeats < min_repeats or odd_objective(case):
        return Skipped(f"at least {min_repeats} samples with a class that came again")
    if (number(samples, "features") or 0) < min_features:
        return Skipped()
    if (number(samples, "twice_in_a_batch") or 0) > max_duplicates_share * (number(samples, "taken") or 1):
        return Skipped()
    if changed < changed_share * repeats:
        return None
    sentence = (
        f"{percent(changed / repeats)} of the samples that came again had another label than the first time."
    )
    return Finding(sentence, "silent_defect", "high", numbers={"relabelled": changed, "came_again": repeats})


def _facts(**counts: int) -> dict[str, Any]:
    return {"samples": {"taken": 2000, "twice_in_a_batch": 0, "features": 20, **counts}}


@Detector("Labels in order", needs=("target/*",), family="data_order")
def labels_in_order(
    case: Case,
    *,
    top_class_share: float = 0.9,
    min_z: float = 6.0,
    min_batch_size: int = 8,
    min_samples: int = 4,
    target_spread_share: float = 0.15,
) -> Detected:
    """Batches hold one class each, while the data hold several: the samples come sorted by class.

    Seen when most sampled batches of at least {min_batch_size} are of one class, or nearly, and those of all
    samples together are not: the largest class holds more of a batch than a draw from these targets gives, by
    {min_z} standard errors. Also when real-valued targets hardly vary within a batch but much between
    batches.

    Silent for shuffled loaders, unequal classes, and losses that are called once for each class. For real
    targets it is a sign: series in time come so by nature. Known mistakes: groups that belong together in one
    batch on purpose.
    """
    top = sampled(case, "target/top_share", min_samples)
    size = _targets_of_a_batch(case)
    if size is None or size < min_batch_size or odd_objective(case):
        return Skipped(f"batches of at least {min_batch_size}")
    if case.inside.several_losses:
        return Skipped("a loss function that is called once a step")
    if top is None:
        return _of_numbers(case, min_samples, target_spread_share)
    shares = case.task.class_shares
    if len(shares) < 2:
        return Skipped()
    level, largest = float(np.median(top.y)), max(shares.values())
    error = float(np.sqrt(largest * (1 - largest) / size / len(top)))
    shuffled = (training_loader(case) or {}).get("shuffle") is True
    if level < top_class_share or level - largest < min_z * error or shuffled:
        return None
    sentence = (
        f"Batches of {size:g} are of one class ({percent(level)} on the median), while the largest class "
        f"holds {percent(largest)} of the targets: the samples come sorted."
    )
    return Finding(sentence, "silent_defect", "high", numbers={"top_share": level})


def _targets_of_a_batch(case: Case) -> float | None:
    shapes = [sizes(loss.get("target_shape")) for loss in case.inside.losses]
    return next((float(shape[0]) for shape in shapes if shape), case.number("batch_size"))


def _of_numbers(case: Case, least: int, narrow: float) -> Detected:
    mean, spread = sampled(case, "target/mean", least), sampled(case, "target/std", least)
    if mean is None or spread is None:
        return Skipped(f"at least {least} samples of targets")
    within, between = float(np.median(spread.y)), float(mean.y.std())
    if between <= 0 or within > narrow * between:
        return None
    return Finding(
        f"Targets vary by {text(within)} within a batch and by {text(between)} between batches: they come in "
        "order."
    )


@Detector("Classes of unequal size", needs=("fact:classes",), family="class_shares")
def classes_unequal(
    case: Case,
    *,
    largest_share: float = 0.9,
    times_the_others: float = 20.0,
    times_the_rarest: float = 10.0,
    weak_share: float = 0.3,
    max_classes: int = 100,
    min_targets: int = 100,
) -> Detected:
    """One class holds most of the targets.

    Seen when the largest class has nine tenths of the targets looked at (of two classes), or is
    {times_the_others} times as frequent as the mean of the others (of more); weakly when it is more than
    {times_the_rarest} times as frequent as the rarest and holds {weak_share:%} of all: a smaller one is
    no reason to answer it every time. A circumstance: many such data are learned well.

    Silent for words and other targets of more than {max_classes} kinds, under {min_targets} targets, and for
    masks of images, where the background rules by nature. Known mistakes: the few looks may have met an
    unusual stretch.
    """
    shares = case.task.class_shares
    targets = sum(value for value in case.inside.fact("classes").values() if isinstance(value, int))
    if targets < min_targets or not 2 <= len(shares) <= max_classes:
        return Skipped()
    largest = max(shares.values())
    other_share = (1 - largest) / (len(shares) - 1)
    ratio = largest / min(shares.values())
    if largest < largest_share and (len(shares) == 2 or largest < times_the_others * other_share):
        if ratio <= times_the_rarest or largest < weak_share:
            return None
        return Finding(
            f"The largest class, {percent(largest)} of the targets, is {times(ratio)} as frequent as "
            "the rarest.",
            strength=0.2,
            numbers={"largest_class": largest, "classes": len(shares), "class_ratio": ratio},
        )
    return Finding(
        f"One class holds {percent(largest)} of the targets, the {len(shares) - 1} other"
        f"{'s' if len(shares) > 2 else ''} {percent(1 - largest)}.",
        strength=strength(1 / (1 - largest), 1 / (1 - largest_share) / 2, 50),
        numbers={"largest_class": largest, "classes": len(shares)},
    )


@Detector("Class weights the wrong way round", needs=("fact:losses", "fact:classes"), family="class_weights")
def class_weights_reversed(
    case: Case, *, times_as_frequent: float = 3.0, times_the_weight: float = 2.0, min_targets: int = 200
) -> Detected:
    """The loss weighs frequent classes more than rare ones.

    Weights of classes are to make up for rare ones: one over the frequency, or nearer to even. Seen when the
    most frequent class is {times_as_frequent} times as frequent as the rarest, has {times_the_weight} times
    its weight and more, and the weights rise with the frequencies throughout: the rare classes hardly count.

    Silent without weights and under {min_targets} sampled targets. Known mistake: a frequent class that
    matters more on purpose.
    """
    recorded = [loss.get("class_weights") for loss in case.inside.losses]
    weights = next((given for given in recorded if isinstance(given, list) and given), [])
    if not all(isinstance(weight, int | float) for weight in weights):
        return Skipped("weights of the classes as numbers")
    counts = {key: n for key, n in case.inside.fact("classes").items() if isinstance(n, int)}
    shares = case.task.class_shares
    if not weights or len(shares) < 2 or max(shares) >= len(weights) or sum(counts.values()) < min_targets:
        return Skipped("weights of the classes and their sampled targets")
    order = sorted(shares, key=lambda kind: shares[kind])
    rare, frequent = order[0], order[-1]
    rises = all(weights[a] <= weights[b] for a, b in itertools.pairwise(order))
    unequal = shares[frequent] >= times_as_frequent * shares[rare]
    if not (rises and unequal and weights[frequent] >= times_the_weight * max(weights[rare], 1e-12)):
        return None
    return Finding(
        f"Class {frequent} ({percent(shares[frequent])} of the targets) has the weight "
        f"{text(weights[frequent])} in the loss, class {rare} ({percent(shares[rare])}) only "
        f"{text(weights[rare])}: the weights favour what is frequent, and rare classes hardly count.",
        "silent_defect",
        "high",
        numbers={"frequent_weight": weights[frequent], "rare_weight": weights[rare]},
    )


def _class_weights(*weights: float) -> Run:
    losses = [{"function": "cross_entropy", "class_weights": list(weights)}]
    return run({}, facts={"losses": losses, "classes": {"0": 900, "1": 60, "2": 40}})


def cases() -> Cases:
    yield from class_weights_reversed.fires(_class_weights(0.9, 0.06, 0.04))
    yield from class_weights_reversed.silent(_class_weights(0.1, 1.5, 2.5), _class_weights(1.0, 1.0, 1.0))
    letters = {str(label): 160 // (label + 1) for label in range(25)}
    yield from classes_unequal.silent(run({}, facts={"classes": letters}))
    yield from labels_change.fires(run({}, facts=_facts(came_again=200, relabelled=160)))
    yield from labels_change.silent(
        run({}, facts=_facts(came_again=900, relabelled=0)),
        run({}, facts=_facts(came_again=8, relabelled=6)),
        run({}, facts={"samples": {"taken": 100, "came_again": 90, "relabelled": 60, "features": 2}}),
    )
    facts = {"losses": [{"target_shape": "32"}], "classes": {"0": 96, "1": 64, "2": 64}}
    yield from labels_in_order.fires(run({"target/top_share": [1.0, 1.0, 1.0, 0.7, 1.0, 1.0]}, facts=facts))
    numbers = {"target/mean": [0.0, 2.0, 4.0, 6.0, 8.0], "target/std": [0.1] * 5}
    yield from labels_in_order.fires(run(numbers, facts={"losses": [{"target_shape": "32"}]}))
    yield from labels_in_order.silent(run({"target/top_share": [0.4, 0.5, 0.45, 0.5, 0.4]}, facts=facts))
    unequal = {"losses": [{"target_shape": "32"}], "classes": {"0": 190, "1": 4}}
    yield from labels_in_order.silent(run({"target/top_share": [1.0, 0.97, 1.0, 1.0, 1.0]}, facts=unequal))
    ones = {"target/top_share": [1.0] * 6, "target@bce/top_share": [1.0] * 6}
    yield from labels_in_order.silent(run(ones, facts=facts))
    small = {"losses": [{"target_shape": "1"}], "classes": {"0": 3, "1": 3}}
    yield from labels_in_order.silent(run({"target/top_share": [1.0] * 6}, facts=small))
    yield from classes_unequal.fires(run({}, facts={"classes": {"0": 960, "1": 40}}))
    yield from classes_unequal.fires(run({}, facts={"classes": {"0": 600, "1": 350, "2": 50}}))
    yield from classes_unequal.silent(run({}, facts={"classes": {"0": 600, "1": 400}}))
    yield from classes_unequal.silent(run({}, facts={"classes": {str(k): 100 for k in range(10)}}))
    yield from classes_unequal.silent(run({}, facts={"classes": {"0": 20, "1": 1}}))
