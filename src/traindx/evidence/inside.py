"""The inside of a recorded training as detectors look at it: layers in the order of the model, and facts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from traindx.core.facts import LARGEST, Fact, facts, number, word, words
from traindx.core.nouns import Event, Run
from traindx.evidence.curve import Curve

_RANK = "/rank"
_BRIEF = 10.0
# Repeated samples that tell how many there are, and draws that no recording exceeds.
_ENOUGH_AGAIN, _MOST_DRAWS = 10, 1e9
_SETS_RATE = re.compile(r"LR|LearningRate")
_OF_A_RANK = re.compile(r"/rank\d+$")


class Inside:
    """What `run.json`, the samples and the events of a recording tell of model, data, loss and optimizer."""

    def __init__(self, run: Run, curve: Callable[[str], Curve | None]) -> None:
        self.run = run
        self._curve = curve
        self._layers: dict[str, dict[str, Curve]] = {}

    @property
    def recorded(self) -> bool:
        """Whether the training was recorded by traindx at all; what was measured at rest is none."""
        return "recording" in self.run.formats or (bool(self.run.facts) and not self.checked)

    @property
    def checked(self) -> Fact:
        """Of what is at rest (a checkpoint, data): what it is, and its size; empty for a training."""
        return self.fact("checked")

    @property
    def crowding(self) -> float:
        """How many processes wanted each core of the machine when the recording ended, at least 1."""
        value = self.run.facts.get("crowding")
        return float(value) if isinstance(value, int | float) and 1 <= value <= LARGEST else 1.0

    @property
    def patience(self) -> int:
        """How many evaluations early stopping waits before it restores the best weights; 0 without."""
        restoring = [c for c in self._facts("callbacks") if c.get("restore_best_weights") is True]
        return max((c["patience"] for c in restoring if isinstance(c.get("patience"), int)), default=0)

    @property
    def brief(self) -> bool:
        """Whether the recording lasted a few seconds only: too short to know how busy the machine was."""
        seconds = number(self.fact("overhead"), "seconds")
        return seconds is not None and seconds < _BRIEF

    @property
    def stopped(self) -> bool:
        """Whether the training was ended before it was over."""
        return any(event.data.get("how") not in (None, "finished") for event in self.events("ended"))

    def concerns(self, area: str) -> bool:
        """Whether the detectors of an area are asked: of what is at rest those it was measured for, of a
        training all but those of checkpoints."""
        return area in words(self.checked, "areas") if self.checked else area != "weights"

    def layers(self, statistic: str) -> dict[str, Curve]:
        """The curves of `grad_norm/<layer>` and the like, the layer nearest to the input first."""
        if statistic not in self._layers:
            front = statistic + "/"
            names = [name.removeprefix(front) for name in self.run.series if name.startswith(front)]
            names = [name for name in names if not _OF_A_RANK.search(name)]
            order = self._activation_order if statistic.startswith("activation") else self._layer_order
            names.sort(key=lambda name: order.get(name, len(order)))
            curves = {name: self._curve(front + name) for name in names}
            self._layers[statistic] = {name: curve for name, curve in curves.items() if curve is not None}
        return self._layers[statistic]

    def ranks(self, name: str) -> dict[int, Curve]:
        """A series of every rank that has it."""
        curves = {0: self._curve(name)}
        for full in self.run.series:
            front, mark, rank = full.rpartition(_RANK)
            if mark and front == name and rank.isdigit():
                curves[int(rank)] = self._curve(full)
        return {rank: curve for rank, curve in sorted(curves.items()) if curve is not None}

    @cached_property
    def _layer_order(self) -> dict[str, int]:
        """As the summary of the models lists them, else as the samples were told."""
        listed = [str(row.get("name", "")) for model in self.models for row in facts(model.get("layer_list"))]
        return _places([*listed, *words(self.fact("sampled"), "layer")])

    @cached_property
    def _activation_order(self) -> dict[str, int]:
        """In the order of the forward pass; without it a summary of the layers must do."""
        names = words(self.fact("sampled"), "activation")
        return _places(names) if names else self._layer_order

    @cached_property
    def models(self) -> Sequence[Fact]:
        return self._facts("models")

    @cached_property
    def optimizers(self) -> Sequence[Fact]:
        return self._facts("optimizers")

    @cached_property
    def losses(self) -> Sequence[Fact]:
        """The loss functions that were called: class, reduction, shapes that reached them."""
        return self._facts("losses")

    @cached_property
    def loaders(self) -> Sequence[Fact]:
        return self._facts("loaders")

    @cached_property
    def schedulers(self) -> Sequence[Fact]:
        """Those of an optimizer; in Keras, the callbacks that set the rate."""
        callbacks = [fact for fact in self._facts("callbacks") if _SETS_RATE.search(word(fact, "class"))]
        return [*self._facts("schedulers"), *callbacks]

    @property
    def largest_model(self) -> Fact:
        return max(self.models, key=lambda model: number(model, "parameters") or 0.0, default={})

    @cached_property
    def layer_list(self) -> Sequence[Fact]:
        """The layers of the largest model."""
        return facts(self.largest_model.get("layer_list"))

    @cached_property
    def several_losses(self) -> bool:
        """Whether more than one call of a loss function was sampled in a step: a sum of terms is trained."""
        return any(name.startswith("target@") for name in self.run.series)

    @cached_property
    def estimated_samples(self) -> float | None:
        """How many samples there are to train on, from how many of those drawn were new.

        `draws` from that many give `size * (1 - exp(-draws / size))` different ones. None where too few came
        again to say, or not every row of a batch was looked at.
        """
        samples = self.fact("samples")
        draws, again = number(samples, "taken"), number(samples, "came_again")
        if not draws or not again or samples.get("every_row") is not True:
            return None
        fresh = draws - again
        if min(fresh, again) < _ENOUGH_AGAIN or draws > _MOST_DRAWS:
            return None
        low, high = fresh, draws * draws
        for _ in range(60):
            size = (low + high) / 2.0
            low, high = (size, high) if size * -math.expm1(-draws / size) < fresh else (low, size)
        return float(round(low))

    def events(self, *kinds: str) -> Sequence[Event]:
        """What happened, of these kinds, in order."""
        return [event for event in self.run.events if event.kind in kinds]

    def fact(self, name: str) -> Fact:
        """One fact that is an object of its own (`graph`, `classes`); empty when it was not told."""
        value = self.run.facts.get(name)
        return value if isinstance(value, Mapping) else {}

    def _facts(self, name: str) -> Sequence[Fact]:
        return facts(self.run.facts.get(name))


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: at for at, name in enumerate(dict.fromkeys(names))}
