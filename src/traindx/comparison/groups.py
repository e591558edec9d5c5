"""Runs that differ in nothing but the seed are repeats of one configuration."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traindx.comparison.differing import Differing, differing
from traindx.comparison.script_diff import script_id
from traindx.comparison.subjects import Subject

_SETTINGS_LEAST = 3
_NAMED_MOST = 4
_SEED = re.compile(r"[\s_,.-]*\(?(?<![A-Za-z0-9])(?:seed|s)[=_-]?\d+\)?(?![A-Za-z0-9])", re.IGNORECASE)


@dataclass(frozen=True)
class Configuration:
    """Runs of one configuration, by their places; `settings` are those that differ from the others."""

    name: str
    settings: dict[str, str | None]
    runs: tuple[int, ...]

    @property
    def named_by_settings(self) -> bool:
        return bool(self.settings) and self.name == _by_settings(self.settings)


def _by_settings(settings: dict[str, str | None]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items() if value is not None)


def configurations(runs: Sequence[Subject], differences: Sequence[Differing]) -> list[Configuration]:
    """Repeats together; a run of which too little is known is alone."""
    changing = [setting for setting in differences if setting.counts]
    alike: dict[tuple[object, ...], list[int]] = {}
    for number, run in enumerate(runs):
        settings = tuple(setting.values[number] for setting in changing)
        alone = () if _repeatable(run) else (number,)
        alike.setdefault((settings, script_id(run), alone), []).append(number)
    groups = []
    for members in alike.values():
        settings_of = {setting.key: setting.values[members[0]] for setting in changing}
        groups.append((settings_of, tuple(members)))
    names = _names([settings for settings, _ in groups], [members for _, members in groups], runs)
    return [Configuration(name, *group) for name, group in zip(names, groups, strict=True)]


def _repeatable(run: Subject) -> bool:
    """Whether enough is known of a run to call another one its repeat."""
    return "seed" in run.settings or len(run.settings) >= _SETTINGS_LEAST


def _names(
    settings: Sequence[dict[str, str | None]], members: Sequence[tuple[int, ...]], runs: Sequence[Subject]
) -> list[str]:
    """By the settings that vary where they distinguish all; else by the names of runs."""
    repeated = any(len(group) > 1 for group in members)
    by_setting = [_by_settings(group_settings) for group_settings in settings]
    is_short = bool(settings) and 0 < len(settings[0]) <= _NAMED_MOST
    apart = len(set(by_setting)) == len(by_setting) and all(by_setting)
    if is_short and apart and (repeated or len(settings) > 2):
        return by_setting
    names = []
    for group in members:
        first = runs[group[0]].name
        names.append(first if len(group) == 1 else _SEED.sub("", first) or first)
    return [
        name if names.count(name) == 1 else runs[group[0]].name
        for name, group in zip(names, members, strict=True)
    ]


def same_twice(runs: Sequence[Subject]) -> list[tuple[int, int, tuple[str, ...]]]:
    """Pairs of runs whose every common curve is equal, with the settings in which they differ."""
    first_runs: dict[tuple[object, ...], int] = {}
    repeats = []
    for number, run in enumerate(runs):
        longest = max(run.run.series.values(), key=len, default=None)
        if longest is None or len(longest) < 2 or not np.isfinite(longest.values).any():
            continue
        mark = (len(run.run.series), run.run.points, longest.name, float(np.nansum(longest.values[:50])))
        if mark in first_runs and _equal(run, runs[first_runs[mark]]):
            apart = [
                setting.key
                for setting in differing([runs[first_runs[mark]], run])
                if setting.counts or setting.key == "seed"
            ]
            repeats.append((first_runs[mark], number, tuple(apart)))
        else:
            first_runs.setdefault(mark, number)
    return repeats


def _equal(first_run: Subject, second_run: Subject) -> bool:
    shared_names = first_run.run.series.keys() & second_run.run.series.keys()
    timing = ("_s", "_per_s", "bytes", "mem", "util")
    return bool(shared_names) and all(
        np.array_equal(first_run.run.series[name].values, second_run.run.series[name].values, equal_nan=True)
        for name in shared_names
        if not name.endswith(timing)
    )
