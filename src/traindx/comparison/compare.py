"""The comparison as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from traindx.comparison.better import Placed, ranking
from traindx.comparison.caveats import warnings_of
from traindx.comparison.differing import Differing, differing
from traindx.comparison.equal_terms import NOWHERE, Equal, Terms, equal, terms
from traindx.comparison.groups import Configuration, configurations, same_twice
from traindx.comparison.metric import Chosen, choose
from traindx.comparison.parting import Parting, parting
from traindx.comparison.scores import Score, score
from traindx.comparison.script_diff import CodeDifference, code_difference
from traindx.comparison.subjects import Subject
from traindx.comparison.suggestions import what_next
from traindx.comparison.sweep import Sweep, sweep
from traindx.core.nouns import Run


class TooFew(Exception):
    """There is nothing to compare; the message is one line for the user."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything traindx says about runs compared with each other; lists are in the order of the runs."""

    runs: tuple[Subject, ...]
    chosen: Chosen
    scores: tuple[Score | None, ...]
    equal: tuple[Equal, ...]
    terms: Terms
    differing: tuple[Differing, ...]
    code: CodeDifference | None
    configurations: tuple[Configuration, ...]
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
        return {each.name: [self.runs[number].run for number in each.runs] for each in ranked}


def compare(runs: Sequence[Subject], *, metric: str | None = None, target: float | None = None) -> Comparison:
    """Compare runs; raises `TooFew` or `NothingShared` with one line that says why it cannot be done."""
    twice = same_twice(runs)
    dropped = {second for _, second, apart in twice if not apart}
    runs_left = [run for number, run in enumerate(runs) if number not in dropped]
    if len(runs_left) < 2:
        raise TooFew(_too_few(runs, twice))
    chosen = choose(runs_left, metric)
    scores = [score(run, chosen) for run in runs_left]
    if not any(one is not None and math.isfinite(one.best) for one in scores):
        raise TooFew(
            f"{chosen.name} is NaN or Inf at every point of every run: there is nothing to compare by. "
            "Name another metric with --metric, or see traindx diagnose for what broke."
        )
    changed = differing(runs_left)
    groups = configurations(runs_left, changed)
    equal_terms = terms(runs_left, [one.runs for one in groups], scores, chosen, target)
    equals = [
        equal(run, s, chosen, equal_terms) if s else NOWHERE for run, s in zip(runs_left, scores, strict=True)
    ]
    placed = ranking(groups, runs_left, scores, chosen)
    code = _code(runs_left, groups, placed)
    swept = sweep(runs_left, scores, changed, groups, placed, chosen)
    return Comparison(
        tuple(runs_left),
        chosen,
        tuple(scores),
        tuple(equals),
        equal_terms,
        tuple(changed),
        code,
        tuple(groups),
        tuple(placed),
        _parting(runs_left, groups, placed, chosen, equal_terms),
        swept,
        warnings_of(runs, runs_left, twice, chosen, scores, equal_terms, changed, groups, code, swept),
        what_next(runs_left, scores, groups, placed, chosen, swept),
    )


def _too_few(runs: Sequence[Subject], twice: Sequence[tuple[int, int, tuple[str, ...]]]) -> str:
    if twice:
        first, second = (runs[number].name for number in twice[0][:2])
        return f"{first} and {second} are the same run: every curve is equal. Give two different runs."
    name = runs[0].name if runs else "nothing"
    return (
        f"only one run was found ({name}): compare needs two or more. Give another run or a folder of runs."
    )


def _code(
    runs_left: Sequence[Subject], groups: Sequence[Configuration], placed: Sequence[Placed]
) -> CodeDifference | None:
    """From the last placed to the leader; of many runs the scripts are not laid over each other."""
    if len(groups) == 2 and len(placed) == 2:
        worse, better = groups[placed[1].configuration], groups[placed[0].configuration]
        return code_difference(runs_left[worse.runs[0]], runs_left[better.runs[0]])
    return None


def _parting(
    runs_left: Sequence[Subject],
    groups: Sequence[Configuration],
    placed: Sequence[Placed],
    chosen: Chosen,
    equal_terms: Terms,
) -> Parting | None:
    """The leader against the next; the training loss where the metric has too few points."""
    if len(placed) < 2 or equal_terms.axis is None:
        return None
    pair = [runs_left[groups[one.configuration].runs[0]] for one in placed[:2]]
    first_difference = parting(pair[0], pair[1], chosen.name, equal_terms.axis)
    if first_difference is None and chosen.name != "loss":
        first_difference = parting(pair[0], pair[1], "loss", equal_terms.axis)
    return first_difference
