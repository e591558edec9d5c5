"""The comparison as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from traindx.comparison.better import Placed, ranking
from traindx.comparison.caveats import warnings_of
from traindx.comparison.equal_terms import NOWHERE, Equal, Terms, equal, terms
from traindx.comparison.groups import Configuration, same_twice
from traindx.comparison.parting import Parting, parting
from traindx.comparison.results import Results
from traindx.comparison.script_diff import CodeDifference, code_difference
from traindx.comparison.subjects import Subject
from traindx.comparison.suggestions import what_next
from traindx.comparison.sweep import Sweep, sweep
from traindx.core.nouns import Run


class TooFew(Exception):
    """There is nothing to compare; the message is one line for the user."""


@dataclass(frozen=True, eq=False)
class Comparison(Results):
    """Everything traindx says about runs compared with each other; lists are in the order of the runs."""

    equal: tuple[Equal, ...]
    terms: Terms
    code: CodeDifference | None
    ranking: tuple[Placed, ...]
    parting: Parting | None
    sweep: Sweep | None
    warnings: tuple[str, ...]
    advice: tuple[str, ...]

    @property
    def leader(self) -> Configuration | None:
        """The best configuration, unless even that one failed."""
        if not self.ranking or not self.ranking[0].final.known:
            return None
        return self.configurations[self.ranking[0].configuration]

    @property
    def one_configuration(self) -> bool:
        """Whether all runs are repeats of one another."""
        return len(self.configurations) == 1 and len(self.runs) > 1

    def groups(self) -> dict[str, list[Run]]:
        """The runs of each configuration by its name, the best first."""
        ranked = [self.configurations[place.configuration] for place in self.ranking]
        return {
            configuration.name: [self.runs[number].run for number in configuration.runs]
            for configuration in ranked
        }


def compare(runs: Sequence[Subject], *, metric: str | None = None, target: float | None = None) -> Comparison:
    """Compare runs; raises `TooFew` or `NothingShared` with one line that says why it cannot be done."""
    twice = same_twice(runs)
    dropped = {second for _, second, apart in twice if not apart}
    runs_left = [run for number, run in enumerate(runs) if number not in dropped]
    if len(runs_left) < 2:
        raise TooFew(_too_few(runs, twice))
    results = Results.of(runs_left, metric)
    if not any(math.isfinite(score.best) for _, score in results.scored):
        raise TooFew(
            f"{results.chosen.name} is NaN or Inf at every point of every run: there is nothing to compare "
            "by. Name another metric with --metric, or see traindx diagnose for what broke."
        )
    equal_terms, placed = terms(results, target), ranking(results)
    equals = [
        equal(run, score, results.chosen, equal_terms) if score else NOWHERE
        for run, score in zip(runs_left, results.scores, strict=True)
    ]
    code, swept = _code(results, placed), sweep(results, placed)
    return Comparison(
        results.runs,
        results.chosen,
        results.scores,
        results.differing,
        results.configurations,
        tuple(equals),
        equal_terms,
        code,
        tuple(placed),
        _parting(results, placed, equal_terms),
        swept,
        warnings_of(runs, twice, results, equal_terms, code, swept),
        what_next(results, placed, swept),
    )


def _too_few(runs: Sequence[Subject], twice: Sequence[tuple[int, int, tuple[str, ...]]]) -> str:
    if twice:
        first, second = (runs[number].name for number in twice[0][:2])
        return f"{first} and {second} are the same run: every curve is equal. Give two different runs."
    name = runs[0].name if runs else "nothing"
    return (
        f"only one run was found ({name}): compare needs two or more. Give another run or a folder of runs."
    )


def _code(results: Results, placed: Sequence[Placed]) -> CodeDifference | None:
    """The script of the worse of two configurations against that of the better; None for more than two."""
    if len(results.configurations) != 2 or len(placed) != 2:
        return None
    better, worse = _first_runs(results, placed)
    return code_difference(worse, better)


def _parting(results: Results, placed: Sequence[Placed], equal_terms: Terms) -> Parting | None:
    """The leader against the next; the training loss where the metric has too few points.

    Curves too wild to show where they part are left out where the ends surely differ: "never part" would
    contradict the ranking.
    """
    if len(placed) < 2 or equal_terms.axis is None:
        return None
    separated = not placed[1].tied and placed[1].ruler != "unknown"
    leader, following = _first_runs(results, placed)
    metrics = dict.fromkeys((results.chosen.name, "loss"))
    partings = (parting(leader, following, metric, equal_terms.axis) for metric in metrics)
    return next(
        (
            candidate
            for candidate in partings
            if candidate is not None and not (separated and candidate.step is None)
        ),
        None,
    )


def _first_runs(results: Results, placed: Sequence[Placed]) -> list[Subject]:
    """The first run of the leader, and of the configuration after it."""
    return [results.runs[results.configurations[place.configuration].runs[0]] for place in placed[:2]]
