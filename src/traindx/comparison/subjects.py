"""The runs of a comparison: each with its curves, a short name, and every known setting."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from traindx.comparison.name_settings import settings_of_names
from traindx.comparison.neighbour_config import settings_beside
from traindx.core.names import setting_name
from traindx.core.names.short_names import without_shared
from traindx.core.nouns import Diagnosis, Run, Scalar
from traindx.evidence.case import Case, Curve


@dataclass(frozen=True, eq=False)
class Subject:
    """One run of a comparison.

    `by_name` are the settings that only its name shows, `by_file` those of a file next to its log.
    """

    run: Run
    name: str
    case: Case
    settings: Mapping[str, Scalar]
    by_name: frozenset[str]
    by_file: frozenset[str]
    diagnosis: Diagnosis | None = None

    def curve(self, metric: str) -> Curve | None:
        """A metric's curve: the fullest scope of the losses, else the first that has a point."""
        if metric == "loss":
            return self.case.loss
        return self.case.val_loss if metric == "val/loss" else self.case.curve(metric)

    def number(self, setting: str) -> float | None:
        value = self.settings.get(setting)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return float(value)

    @property
    def samples_per_step(self) -> float | None:
        """Samples of one optimizer step, when the batch size is known."""
        batch = self.number("batch_size")
        if batch is None:
            return None
        return batch * (self.number("accumulation") or 1.0) * (self.number("world_size") or 1.0)


def subjects(runs: Sequence[Run], diagnoses: Sequence[Diagnosis] | None = None) -> list[Subject]:
    """Runs made ready to be compared; the order stays."""
    names = distinct_names([run.name for run in runs])
    settings_by_name = settings_of_names(names)
    configs = settings_beside(runs)
    prepared = []
    for number, run in enumerate(runs):
        case = Case(run)
        settings = _settings(run)
        filed = {key: value for key, value in configs[number].items() if key not in settings}
        settings.update(filed)
        by_name = {key: value for key, value in settings_by_name[number].items() if key not in settings}
        settings.update(by_name)
        if settings.get("lr") is None and case.lr is not None and len(case.lr):
            settings["lr"] = float(f"{np.max(case.lr.y):.4g}")
        diagnosis = diagnoses[number] if diagnoses is not None else None
        present = {key: value for key, value in settings.items() if value is not None and value != ""}
        prepared.append(
            Subject(run, names[number], case, present, frozenset(by_name), frozenset(filed), diagnosis)
        )
    return prepared


def _settings(run: Run) -> dict[str, Scalar]:
    """Canonical settings first; other configuration keys under their own names."""
    settings: dict[str, Scalar] = dict(run.settings)
    for key, value in run.config.items():
        if setting_name(key) not in settings and key not in settings:
            settings[key] = value
    return settings


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names without the folders and the file name that all share; numbered where they are equal."""
    counts: dict[str, int] = {}
    unique = []
    for name in without_shared(names):
        counts[name] = counts.get(name, 0) + 1
        unique.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return unique
