"""Whether the numbers of two versions mean the same: what the loss computes, which data, how long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from traindx.core.kinds import BY_CLASS, BY_SIGN, loss_kind
from traindx.core.nouns import Run
from traindx.experiment.measure import Yardstick

# Samples count as the same when so many of those compared are in both versions.
_SAME_SAMPLES = 0.95
# Where only some rows of large batches were sampled, so few in common are other samples.
_OTHER_SAMPLES = 0.2
_AS_LONG = 0.05
# So many samples of validation that were trained on make its numbers those of training.
_KNOWN, _KNOWN_BEFORE = 0.1, 0.5
_LOSS_FACTS = ("reduction", "label_smoothing", "weights", "ignore_index")


@dataclass(frozen=True)
class Likeness:
    """One thing compared between two versions; None where it could not be. With `spoils` their numbers
    say nothing about each other."""

    what: str
    same: bool | None
    text: str = ""
    spoils: bool = False


def likenesses(before: Run, after: Run, by: Yardstick) -> tuple[Likeness, ...]:
    """Everything that is compared, for a pair of runs on the same seed."""
    return tuple(_likenesses(before, after, by))


def _likenesses(before: Run, after: Run, by: Yardstick) -> Iterator[Likeness]:
    yield _loss(before, after, by)
    yield _validation(before, after, by)
    yield _training_data(before, after)
    yield _length(before, after)
    yield from _only_measured(before, after, by)
    yield from _leak(before, after, by)


def _loss(before: Run, after: Run, by: Yardstick) -> Likeness:
    kinds = [_losses(run) for run in (before, after)]
    if not all(kinds):
        return Likeness("loss", None)
    below = [_impossible(run, by) for run in (before, after)]
    if below[0] != below[1]:
        text = f"the loss falls below 0 {'before' if below[0] else 'now'}: it is given no probabilities"
        return Likeness("loss", False, text, spoils=_of_loss(by))
    if kinds[0] == kinds[1]:
        return Likeness("loss", True)
    text = f"the loss computes something else: {' and '.join(kinds[0])} -> {' and '.join(kinds[1])}"
    return Likeness("loss", False, text, spoils=_of_loss(by))


def _of_loss(by: Yardstick) -> bool:
    return not by.higher and by.name.endswith("loss")


def _impossible(run: Run, by: Yardstick) -> bool:
    """Whether a cross-entropy is negative, which no probabilities give."""
    facts, series = run.facts.get("losses"), run.series.get(by.name)
    listed = [fact for fact in facts if isinstance(fact, Mapping)] if isinstance(facts, Sequence) else []
    entropies = bool(listed) and all(loss_kind(fact) in BY_CLASS | BY_SIGN for fact in listed)
    return entropies and series is not None and bool((series.values < 0).any())


def _losses(run: Run) -> list[str]:
    """The losses that are differentiated or evaluated, with what decides their scale."""
    facts = run.facts.get("losses")
    kinds = set()
    for fact in facts if isinstance(facts, Sequence) else ():
        if isinstance(fact, Mapping):
            details = [
                f"{name} {fact[name]}" for name in _LOSS_FACTS if fact.get(name) not in (None, "", "mean")
            ]
            kinds.add(" ".join([loss_kind(fact), *details]))
    return sorted(kinds)


def _validation(before: Run, after: Run, by: Yardstick) -> Likeness:
    spoils = by.name.startswith(("val/", "test/"))
    share, same = _samples_shared(before, after, "validation")
    if same is False and _samples_shared(before, after)[0] < _OTHER_SAMPLES:
        same = None  # no sample of the training is known again either: inputs have another form now
    if same is not False:
        return Likeness("validation data", same)
    text = f"validation gets other inputs: {share:.0%} of those compared are the same"
    return Likeness("validation data", False, text, spoils)


def _training_data(before: Run, after: Run) -> Likeness:
    _, same = _samples_shared(before, after)
    if same is not False:
        return Likeness("training data", same)
    counts = [_samples(run).get("distinct") for run in (before, after)]
    are_known = all(isinstance(count, int) for count in counts)
    counts_text = f" ({counts[0]:,} -> {counts[1]:,} samples seen)" if are_known else ""
    return Likeness("training data", False, f"training gets other inputs{counts_text}")


def _length(before: Run, after: Run) -> Likeness:
    trained = [_trained(run) for run in (before, after)]
    if trained[0] is None or trained[1] is None or trained[0] <= 0:
        return Likeness("length", None)
    ratio = trained[1] / trained[0]
    if abs(ratio - 1) <= _AS_LONG:
        return Likeness("length", True)
    return Likeness("length", False, f"it trains on {ratio:.2g} times as many samples")


def _trained(run: Run) -> float | None:
    size, last = run.settings.get("batch_size"), run.last_step
    if last is None or run.axis != "step":
        return last
    return last * size if isinstance(size, int | float) and not isinstance(size, bool) else last


def _only_measured(before: Run, after: Run, by: Yardstick) -> Iterator[Likeness]:
    """The same training to the last digit, and yet another value: only the measurement differs."""
    if (
        by.name in ("loss", "step_s")
        or not _equal(before, after, "loss")
        or not _equal(before, after, "grad_norm")
    ):
        return
    if not _equal(before, after, by.name):
        text = (
            f"the training itself is the same to the last digit: the change only affects how {by.words} is "
            "measured"
        )
        yield Likeness("measurement", False, text, spoils=True)


def _leak(before: Run, after: Run, by: Yardstick) -> Iterator[Likeness]:
    known_shares = [_known_share(run) for run in (before, after)]
    if known_shares[0] is None or known_shares[1] is None or not by.name.startswith(("val/", "test/")):
        return
    if known_shares[1] >= _KNOWN and known_shares[0] <= _KNOWN_BEFORE * known_shares[1]:
        text = (
            f"{known_shares[1]:.0%} of the validation samples are trained on ({known_shares[0]:.0%} before)"
        )
        yield Likeness("leak", False, text, spoils=True)


def identical(before: Run, after: Run) -> bool:
    """Whether two runs have the same numbers in every series that is about the training."""
    names = [
        name for name, series in before.series.items() if series.goal != "none" or name in ("lr", "grad_norm")
    ]
    return bool(names) and all(_equal(before, after, name) for name in names)


def _equal(before: Run, after: Run, name: str) -> bool:
    first, second = before.series.get(name), after.series.get(name)
    if first is None or second is None or len(first) != len(second) or not len(first):
        return False
    return bool(np.array_equal(first.values, second.values, equal_nan=True))


def _samples(run: Run) -> Mapping[str, Any]:
    samples = run.facts.get("samples")
    return samples if isinstance(samples, Mapping) else {}


def _known_share(run: Run) -> float | None:
    held_out = _samples(run).get("validation")
    if not isinstance(held_out, Mapping) or not held_out.get("taken"):
        return None
    return float(held_out.get("known", 0)) / float(held_out["taken"])


def _samples_shared(before: Run, after: Run, part: str = "") -> tuple[float, bool | None]:
    """The share of all samples that is in both, by the smallest marks of both together, and whether they are
    the same samples; None where that cannot be said."""
    facts = [_samples(run).get(part) if part else _samples(run) for run in (before, after)]
    sketched = [fact for fact in facts if isinstance(fact, Mapping) and fact.get("sketch")]
    if len(sketched) < 2:
        return 0.0, None
    first, second = ({str(mark) for mark in fact["sketch"]} for fact in sketched)
    smallest = sorted(first | second)[: max(len(first), len(second))]
    share = sum(mark in first and mark in second for mark in smallest) / len(smallest)
    if share >= _SAME_SAMPLES:
        return share, True
    certain = all(fact.get("every_row") for fact in sketched)
    return share, False if share < (_SAME_SAMPLES if certain else _OTHER_SAMPLES) else None
