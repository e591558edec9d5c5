"""What is trained: the kind of answers, the number of classes, and what answers without a look at the input
score. Derived once a run, from settings, a recording, or the first values of the curves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.facts import Fact, sizes
from traindx.core.kinds import BY_CLASS, BY_SIGN, loss_kind
from traindx.evidence.curve import shares

if TYPE_CHECKING:
    from traindx.evidence.case import Case

# Numbers of classes and vocabulary sizes that are met often.
_CLASSES = (*range(2, 21), 50, 100, 200, 1000)
_VOCABULARIES = (21128, 28996, 30522, 32000, 32128, 50257, 50265, 50304, 64000, 65024, 128256, 151936, 250002)
_MANY = 1000
# A first loss of language models: the logarithm of a vocabulary.
_TOKEN_LOSS = (6.9, 13.0)
# Formats of trainers that are used for fine-tuning far more than for anything else.
_TRAINERS = frozenset({"hf-trainer", "llamafactory"})
# The rates of a fine-tuning: so small at their peak, from less than half of it to hardly anything.
_TUNING_RATE, _HALF, _GONE = 3e-5, 0.5, 0.05
_FEW_RATES = 8
# The share of the way from ln K to ln (K + 1) within which a level is no coincidence.
_COINCIDES = 0.05


@dataclass(frozen=True)
class Chance:
    """A level of the loss and what would give it; `known` when the run's settings say so."""

    level: float
    why: str
    classes: int | None = None
    known: bool = False


class Task:
    """What a run learns."""

    def __init__(self, case: Case) -> None:
        self._case = case

    @cached_property
    def configured_classes(self) -> int | None:
        """The number of classes as the settings give it."""
        number = self._case.number("classes")
        if number is None:
            number = self._named_labels
        return int(number) if 2 <= number <= 100_000 else None

    @cached_property
    def classes(self) -> int | None:
        """The number of classes: configured, else the K whose ln K and 1/K the run begins with.

        Dropout lifts the first training loss, so the first validation loss counts as well. The first
        accuracy, at the end of an epoch perhaps, may be above 1/K already; a K that it lies well below is
        not named.
        """
        if self.configured_classes is not None:
            return self.configured_classes
        case = self._case
        curves = (case.loss, case.val_loss)
        losses = [float(curve.y[0]) for curve in curves if curve is not None and len(curve)]
        scores = (shares(case.curve("accuracy")), shares(case.val("accuracy")))
        starts = [min(float(part[0]), float(np.median(part[:3]))) for part in scores if part is not None]
        if not losses or not starts or min(losses) <= 0 or not min(starts) > 0:
            return None
        fits = []
        for k in _CLASSES:
            off = min(abs(math.log(k) / first - 1.0) for first in losses)
            ratios = [start * k for start in starts]
            if off <= 0.05 and all(0.6 <= ratio <= 2.2 for ratio in ratios):
                fits.append((off / 0.05 + max(abs(math.log(r)) * (0.5 if r > 1 else 1.0) for r in ratios), k))
        return min(fits)[1] if fits else None

    @property
    def one_output(self) -> bool:
        """Whether the settings say that there is a single output: a regression."""
        return self._case.number("classes") == 1 or self._named_labels == 1

    @cached_property
    def _named_labels(self) -> int:
        """How many labels a Hugging Face model names."""
        return sum(".id2label." in f".{key}" for key in self._case.run.config)

    @cached_property
    def predicts_tokens(self) -> bool:
        """Whether it is a language model: a perplexity is logged, or the first loss is ln of a vocabulary."""
        case, loss = self._case, self._case.loss
        starts_high = loss is not None and len(loss) > 0 and _TOKEN_LOSS[0] < loss.head < _TOKEN_LOSS[1]
        return starts_high or case.has("perplexity|val/perplexity|bits_per_byte")

    @property
    def starts_trained(self) -> bool:
        """Whether the first loss is so far below the logarithm of the vocabulary that the model knows the
        language already."""
        loss, vocabulary = self._case.loss, self._case.number("vocab_size")
        if loss is None or not len(loss) or vocabulary is None or vocabulary < _MANY:
            return False
        return 0 < loss.head < _HALF * math.log(vocabulary)

    @cached_property
    def fine_tuned(self) -> bool:
        """Whether anything hints at fine-tuning: configuration, path, preference or RL data, the rates."""
        from traindx.evidence.detectors._settings import perhaps_tuned

        return perhaps_tuned(self._case) or self.tuned_by_trainer or self._has_rates_of_tuning

    @property
    def _has_rates_of_tuning(self) -> bool:
        """Whether a small rate is warmed up and brought back to nothing, as for weights trained before."""
        rate = self._case.lr
        if rate is None or len(rate) < _FEW_RATES:
            return False
        peak = float(rate.y.max())
        planned = rate.y[0] < _HALF * peak and rate.y[-1] < _GONE * peak and rate.y.argmax() < len(rate) // 4
        return bool(planned) and 0 < peak <= _TUNING_RATE

    @property
    def tuned_by_trainer(self) -> bool:
        """Whether a trainer wrote the log that is used for fine-tuning far more than for anything else."""
        return bool(_TRAINERS & set(self._case.run.formats))

    @cached_property
    def constant_loss(self) -> float | None:
        """The loss of a constant answer to targets spread evenly, if the only loss function is known and
        called once a step."""
        losses = self._case.inside.losses
        if len(losses) != 1 or losses[0].get("reduction") != "mean" or self._case.inside.several_losses:
            return None
        kind = loss_kind(losses[0])
        if kind in BY_CLASS:
            classes = _output_width(losses[0])
            return math.log(classes) if classes > 1 else None
        if kind in BY_SIGN:
            return math.log(2)
        spread = self._case.curve("target/std")
        if kind == "mse" and spread is not None and len(spread) > 1:
            return float(np.median(spread.y)) ** 2 or None
        return None

    @cached_property
    def constant_losses(self) -> Sequence[float]:
        """What constant answers cost: to targets spread evenly, and to classes by their recorded shares.

        Which of them holds depends on weights of the classes, which are not recorded.
        """
        if self.constant_loss is None:
            return ()
        shares = self.class_shares
        if loss_kind(self._case.inside.losses[0]) == "mse" or not 2 <= len(shares) <= _MANY:
            return (self.constant_loss,)
        return (self.constant_loss, -sum(share * math.log(share) for share in shares.values()))

    @cached_property
    def guess_loss(self) -> float | None:
        """What the best constant answer costs: the variance of the targets, or the entropy of the classes
        by their recorded shares, where it is known that they have no weights."""
        losses = self._case.inside.losses
        if self.constant_loss is None or loss_kind(losses[0]) == "mse":
            return self.constant_loss
        unweighted = losses[0].get("weighted") is False and len(self.constant_losses) == 2
        return self.constant_losses[1] if unweighted else None

    @cached_property
    def class_shares(self) -> dict[int, float]:
        """The share of each class among the sampled targets."""
        classes = self._case.inside.fact("classes")
        passed_over = {str(loss.get("ignored")) for loss in self._case.inside.losses}
        counts = {
            key: value for key, value in classes.items() if isinstance(value, int) and key not in passed_over
        }
        total = sum(counts.values())
        return {int(key): n / total for key, n in counts.items() if str(key).isdecimal()} if total else {}

    def chance_near(self, level: float, *, tolerance: float, known_tolerance: float = 0.03) -> Chance | None:
        """The chance level nearest to a loss, if one is near enough; the run's own settings count first."""
        for chance in self.known_chances:
            if abs(level / chance.level - 1) <= known_tolerance:
                return chance
        if self.starts_trained:
            return None
        near = [c for c in _usual() if abs(level / c.level - 1) <= tolerance]
        return min(near, key=lambda c: abs(level / c.level - 1), default=None)

    @cached_property
    def known_chances(self) -> Sequence[Chance]:
        """The chance levels that the settings give: classes before vocabulary."""
        chances = []
        for setting, noun in (("classes", "classes"), ("vocab_size", "tokens of the vocabulary")):
            number = self._case.number(setting)
            if number is not None and number >= 2:
                why = f"ln {number:,.0f}, what even guesses over the {number:,.0f} {noun} give"
                chances.append(Chance(math.log(number), why, int(number), known=True))
        return chances


def exact_chance(level: float, *, tolerance: float = 2e-4, max_classes: int = 1000) -> Chance | None:
    """ln K of any K up to `max_classes`, for a level known to four digits: where K is large, closer still,
    or every level would be that of some K."""
    if not 0.6 < level < math.log(max_classes) + 0.01:
        return None
    classes = round(math.exp(level))
    chance = Chance(math.log(classes), f"ln {classes}, what even guesses over {classes} give", classes)
    spacing = 1.0 / (classes * chance.level)
    return chance if abs(level / chance.level - 1) <= min(tolerance, _COINCIDES * spacing) else None


def _usual() -> list[Chance]:
    classes = [Chance(math.log(k), f"ln {k}, what even guesses over {k} classes give", k) for k in _CLASSES]
    tokens = [
        Chance(math.log(k), f"ln {k:,}, what even guesses over {k:,} tokens give", k) for k in _VOCABULARIES
    ]
    return [*classes, *tokens, Chance(0.25, "0.25, the variance of evenly spread 0/1 targets")]


def _output_width(loss: Fact) -> int:
    shape = sizes(loss.get("output_shape"))
    return shape[1] if len(shape) > 1 else sum(shape)
