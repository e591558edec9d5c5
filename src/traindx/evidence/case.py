"""A run as the detectors look at it: its main curves found once, their statistics computed once."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cached_property

from traindx.core.facts import sizes
from traindx.core.names import is_secondary
from traindx.core.nouns import Run
from traindx.core.pool import PoolEntry
from traindx.evidence.crash import Crash, crash_of
from traindx.evidence.curve import Curve as Curve
from traindx.evidence.harm import Harm
from traindx.evidence.inside import Inside
from traindx.evidence.level import Level
from traindx.evidence.scores import NEVER_ON_TRAIN
from traindx.evidence.task import Task
from traindx.source import Script

# The scopes a curve may be logged under, the most telling first.
_SCOPES = ("", "@step", "@epoch", "@mean", "@batch", "@bar")
_SPLITS = ("val/", "test/")
# So near must a printed training metric be to the recorded loss to be the same thing.
_SAME_LOSS = 0.15
_RATE = re.compile(r"(?:^|[/_.])lr(?![a-z])")
# Where the loss is a surrogate whose value says nothing about progress.
SURROGATE_LOSS = frozenset({"rl", "gan"})


class Case:
    """A run, the script that made it if it is known, and what detectors ask of them again and again.

    `pool` is what other commands found out about the same unchanged script.
    """

    def __init__(self, run: Run, script: Script | None = None) -> None:
        self.run = run
        self.script = script
        self.pool: tuple[PoolEntry, ...] = ()
        self._curves: dict[str, Curve] = {}
        self.inside = Inside(run, self._curve)
        self.task = Task(self)
        self.level = Level(self)
        self.harm = Harm(self)

    def curve(self, *names: str) -> Curve | None:
        """The first of the named series that has a point, finite or not, under any scope."""
        for name in names:
            for scope in _SCOPES:
                curve = self._curve(name + scope)
                if curve is not None:
                    return curve
        return None

    def _curve(self, key: str) -> Curve | None:
        """A series by its full name, made into a curve once."""
        series = self.run.series.get(key)
        if series is None or not len(series):
            return None
        if key not in self._curves:
            self._curves[key] = Curve(series)
        return self._curves[key]

    def has(self, need: str) -> bool:
        """Whether a detector's need is met: `loss`, `lr|setting:lr`, `val/*`, `fact:losses`, `script`."""
        return any(self._available(alternative) for alternative in need.split("|"))

    def _available(self, need: str) -> bool:
        if need.startswith("setting:"):
            return self.run.settings.get(need.removeprefix("setting:")) is not None
        if need == "script":
            return self.script is not None
        if need == "recording":
            return self.inside.recorded
        if need.startswith("fact:"):
            return bool(self.run.facts.get(need.removeprefix("fact:")))
        if need.endswith("*"):
            return any(name.startswith(need[:-1]) and len(s) for name, s in self.run.series.items())
        curve = self.loss if need == "loss" else self.val_loss if need == "val/loss" else self.curve(need)
        return curve is not None

    @cached_property
    def loss(self) -> Curve | None:
        """The training loss, of the scope with the most points."""
        return self._fullest("loss")

    @cached_property
    def val_loss(self) -> Curve | None:
        """The validation loss; the test loss when it was logged along the way instead."""
        for split in _SPLITS:
            curve = self._fullest(split + "loss")
            if curve is not None:
                return curve
        return self._loss_of_another_name()

    def _loss_of_another_name(self) -> Curve | None:
        """`val/mse`, where `mse` of the training is the loss itself: then both are in its units."""
        for name, split in ((name, split) for split in _SPLITS for name in self.names):
            if not name.startswith(split) or self.loss is None or not len(self.loss):
                continue
            twin, curve = self._curve(name.removeprefix(split)), self._curve(name)
            if twin is None or curve is None or curve.goal != "lower" or min(len(twin), len(curve)) < 3:
                continue
            if abs(float(twin.y[-1]) - self.loss.tail) <= _SAME_LOSS * abs(self.loss.tail):
                return curve
        return None

    def val(self, metric: str) -> Curve | None:
        """A metric on validation (or test) data; some are never measured on any other."""
        found = self.curve(*(split + metric for split in _SPLITS))
        if found is not None or metric not in NEVER_ON_TRAIN:
            return found
        plain = self.curve(metric)
        single = plain is not None and len(plain) > 1 and bool(((plain.y == 0) | (plain.y == 1)).all())
        return None if single else plain

    def part_of(self, name: str) -> Curve | None:
        """A metric, or the longest of its parts (`reward/rollout`) where only those are logged."""
        parts = [self._curve(key) for key in self.names if key.startswith(name + "/")]
        longest = max((curve for curve in parts if curve is not None), key=len, default=None)
        return self.curve(name) or longest

    def _fullest(self, name: str) -> Curve | None:
        """`loss` itself when it is there with points enough, else the scope that has the most."""
        curves = [curve for scope in _SCOPES if (curve := self._curve(name + scope)) is not None]
        if not curves:
            return None
        return curves[0] if len(curves[0].series) >= 8 else max(curves, key=lambda c: len(c.series))

    @cached_property
    def lr(self) -> Curve | None:
        """The logged learning rate of the parameter group that follows the schedule.

        Mostly the first one. Detectors of the YOLO family start the biases, which they log first, at a
        high rate that falls while the weights' rate warms up: then the weights' group is taken.
        """
        first = self.curve("lr")
        if first is None or len(first) < 3:
            return first
        early = max(2, len(first) // 10)
        if first.y[0] >= first.y.max() and first.y[early] < 0.9 * first.y[0]:
            for group in self.lr_groups:
                if len(group) == len(first) and group.y[early] > 1.1 * group.y[0]:
                    return group
        return first

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of its series but those of layers and further ranks, and what was told twice."""
        return tuple(name for name in self.run.series if not is_secondary(name))

    @cached_property
    def lr_groups(self) -> list[Curve]:
        """The logged rates of further parameter groups."""
        names = [name for name in self.names if name != "lr" and _RATE.search(name.lower())]
        curves = [self.curve(name) for name in names]
        return [curve for curve in curves if curve is not None and len(curve)]

    @cached_property
    def grad_norm(self) -> Curve | None:
        return self.curve("grad_norm")

    @cached_property
    def lr_value(self) -> float | None:
        """The highest learning rate in use: logged, else configured."""
        configured = self.number("lr")
        if self.lr is None or not len(self.lr):
            return configured
        highest = float(self.lr.y.max())
        # A log that begins after the first steps of a decay misses the peak by little.
        near = configured is not None and highest <= configured <= 1.25 * highest
        return configured if near else highest

    @property
    def planned_steps(self) -> float | None:
        """Steps the run was meant to take, on its own axis."""
        total = self.number("epochs" if self.run.axis == "epoch" else "max_steps")
        if total is None and self.run.axis == "step":
            epochs, length = self.number("epochs"), self.epoch_length
            total = epochs * length if epochs and length else None
        return total if total is not None and total > 0 else None

    @cached_property
    def batch_size(self) -> float | None:
        """Samples in a batch: as configured, else as the loss function was given them."""
        shapes = [sizes(loss.get("output_shape") or loss.get("target_shape")) for loss in self.inside.losses]
        return self.number("batch_size") or next((float(shape[0]) for shape in shapes if shape), None)

    @cached_property
    def train_samples(self) -> float | None:
        """Samples to train on: as configured, else estimated from how often sampled ones came again."""
        return self.number("train_samples") or self.inside.estimated_samples

    def number(self, setting: str) -> float | None:
        """A setting as a number, None when it is not there or is no number."""
        value = self.run.settings.get(setting)
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            return None
        return float(value)

    def word(self, setting: str) -> str:
        """A setting as lower-case text, empty when it is not there."""
        value = self.run.settings.get(setting)
        return "" if value is None else str(value).lower()

    @property
    def traits(self) -> frozenset[str]:
        return self.run.traits

    @property
    def surrogate(self) -> bool:
        """Whether the loss is a surrogate: its level and trend say nothing about progress.

        That of RL and GANs is, and one that compares with answers of a copy of the model that moves along."""
        if self.inside.fact("objective").get("moving_target") is True:
            return True
        return bool(self.traits & SURROGATE_LOSS)

    @property
    def resumed(self) -> bool:
        """Whether the training loss begins in the middle of a training, or with a model trained before."""
        late = self.loss is not None and len(self.loss) > 0 and self.loss.course.starts_late
        return late or self.task.starts_trained

    def events(self, *kinds: str) -> Sequence[float]:
        """Steps of the events of these kinds that have one."""
        return [e.step for e in self.run.events if e.kind in kinds and e.step is not None]

    @cached_property
    def span(self) -> tuple[float, float]:
        """First and last step of any curve."""
        ends = [(float(s.steps[0]), float(s.steps[-1])) for s in self.run.series.values() if len(s)]
        return (min(a for a, _ in ends), max(b for _, b in ends)) if ends else (0.0, 0.0)

    @cached_property
    def crash(self) -> Crash | None:
        """The exception that ended it."""
        return crash_of(self.run, self.span)

    @cached_property
    def epoch_length(self) -> float | None:
        """Steps per epoch on the run's axis, when the log or the settings tell."""
        if self.run.axis == "epoch":
            return 1.0
        epoch = self.curve("epoch")
        if epoch is not None and len(epoch) > 1:
            epochs = float(epoch.y[-1] - epoch.y[0])
            passed = float(epoch.x[-1] - epoch.x[0])
            if epochs > 0 and passed > 0:
                return passed / epochs
        samples, batch = self.number("train_samples"), self.number("batch_size")
        if samples and batch and self.run.axis == "step":
            whole = batch * (self.number("accumulation") or 1) * (self.number("world_size") or 1)
            return max(1.0, samples / whole)
        return None
