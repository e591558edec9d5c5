"""Runs with their scores on one metric, as configurations: what every part of a comparison works on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from traindx.comparison.differing import Differing, differing
from traindx.comparison.groups import Configuration, configurations
from traindx.comparison.metric import Chosen, choose
from traindx.comparison.scores import Score, ScoreLevel, score
from traindx.comparison.subjects import Subject

_WILD = 100.0


@dataclass(frozen=True, eq=False)
class Results:
    """`scores` are in the order of the runs, None for a run without the metric."""

    runs: tuple[Subject, ...]
    chosen: Chosen
    scores: tuple[Score | None, ...]
    differing: tuple[Differing, ...]
    configurations: tuple[Configuration, ...]

    @classmethod
    def of(cls, runs: Sequence[Subject], metric: str | None) -> Results:
        chosen, differences = choose(runs, metric), differing(runs)
        scores = tuple(score(run, chosen) for run in runs)
        return cls(tuple(runs), chosen, scores, tuple(differences), tuple(configurations(runs, differences)))

    @property
    def changing(self) -> list[Differing]:
        """The settings that differ and count."""
        return [setting for setting in self.differing if setting.counts]

    @property
    def scored(self) -> list[tuple[Subject, Score]]:
        """The runs that have the metric."""
        return [
            (run, run_score)
            for run, run_score in zip(self.runs, self.scores, strict=True)
            if run_score is not None
        ]

    def scores_of(self, configuration: Configuration) -> list[Score]:
        return [run_score for number in configuration.runs if (run_score := self.scores[number]) is not None]

    def finals(self, configuration: Configuration) -> list[ScoreLevel]:
        """Where its runs ended, but for those that failed."""
        return [run_score.final for run_score in self.scores_of(configuration) if run_score.final.known]

    def ends(self, configuration: Configuration) -> list[float]:
        """The same as values of which lower is better."""
        return [self.chosen.sign * level.value for level in self.finals(configuration)]

    def end(self, number: int) -> float:
        """The final level of a run, lower being better; inf for what failed."""
        run_score = self.scores[number]
        return (
            self.chosen.sign * run_score.final.value
            if run_score is not None and run_score.final.known
            else math.inf
        )

    @cached_property
    def spread(self) -> tuple[float, int] | None:
        """The standard deviation between repeats, pooled over the better half of what is repeated.

        Bad configurations scatter widely and say nothing about good ones. With it, its degrees of freedom;
        None when nothing is repeated.
        """
        repeated = [ends for group in self.configurations if len(ends := self.ends(group)) > 1]
        if not repeated:
            return None
        parts = sorted((float(np.mean(e)), float(np.var(e, ddof=1)), len(e) - 1) for e in repeated)
        better = parts[: max(3, -(-len(parts) // 2))]
        # What scatters ten times as much as the others is hardly one configuration.
        usual = float(np.median([variance for _, variance, _ in better]))
        better = [part for part in better if part[1] <= _WILD * usual] or better
        freedom = sum(free for _, _, free in better)
        return float(np.sqrt(sum(variance * free for _, variance, free in better) / freedom)), freedom
