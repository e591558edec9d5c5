"""What to try next, and why."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.comparison.better import Placed
from traindx.comparison.groups import Configuration
from traindx.comparison.results import Results
from traindx.comparison.subjects import Subject
from traindx.comparison.sweep import Sweep
from traindx.core.number_text import short

_MOST = 6
_SEEDS = 3


def what_next(results: Results, placed: Sequence[Placed], sweep: Sweep | None) -> tuple[str, ...]:
    """The most informative next runs, each with its reason."""
    if not placed:
        return ()
    groups = results.configurations
    leader = groups[placed[0].configuration]
    advice = [
        *_combined(sweep),
        *_edges(sweep),
        *_untried(groups, leader, sweep),
        *_seeds(groups, placed),
        *_health(leader, results.runs),
    ]
    scores = results.scores_of(leader)
    if scores and all(score.improving for score in scores):
        advice.append(
            f"Train {leader.name} for longer: its {results.chosen.name} was still getting better when it "
            f"ended (last quarter beyond its noise, at {short(scores[0].last_step)})."
        )
    advice += _settled(sweep)
    return tuple(advice[:_MOST])


def _combined(sweep: Sweep | None) -> list[str]:
    """Combinations that hurt, to be avoided; those that help, to be kept."""
    advice = []
    for combination in sweep.combinations if sweep is not None else ():
        first, second = combination.conditions
        if combination.hurts:
            advice.append(
                f"Do not combine {first} with {second}; to make sure, repeat one run that has both "
                "with only one of them changed."
            )
        else:
            advice.append(f"Use {first} with {second}: the runs that have both end better.")
    return advice


def _edges(sweep: Sweep | None) -> list[str]:
    if sweep is None:
        return []
    advice = []
    for rates in sweep.rates:
        where = f" with {rates.condition}" if rates.condition else ""
        if rates.edge == "highest":
            higher = ", ".join(short(rates.levels[-1][0] * factor) for factor in (2, 4))
            advice.append(
                f"Try higher learning rates{where} ({higher}): the best one, {short(rates.best)}, is within "
                "reach of the highest tried, so the upper limit is not known yet."
            )
        elif rates.edge == "lowest":
            lower = ", ".join(short(rates.levels[0][0] / factor) for factor in (2, 4))
            advice.append(
                f"Try lower learning rates{where} ({lower}): the best one, {short(rates.best)}, is within "
                "reach of the lowest tried."
            )
    return advice


def _untried(groups: Sequence[Configuration], leader: Configuration, sweep: Sweep | None) -> list[str]:
    """The best value of every setting that matters, when they were never tried together."""
    if sweep is None:
        return []
    best_values = {
        effect.setting: effect.places[0][0]
        for effect in sweep.effects
        if effect.matters and effect.places and effect.setting in leader.settings
    }
    values = {group.settings.get(key) for key in best_values for group in groups}
    best_values = {key: value for key, value in best_values.items() if value in values}
    if len(best_values) < 2 or sweep.interactions or sweep.combinations:
        return []
    if any(all(group.settings.get(key) == value for key, value in best_values.items()) for group in groups):
        return []
    best_text = ", ".join(f"{key}={value}" for key, value in best_values.items())
    return [f"Try {best_text} together: each is the best of its kind on average, and no run combined them."]


def _seeds(groups: Sequence[Configuration], placed: Sequence[Placed]) -> list[str]:
    """Repeats where they would decide."""
    near = [
        placed[0],
        *(place for place in placed[1:] if place.tied or place.ruler in ("within", "unknown")),
    ][:3]
    unrepeated = [place for place in near if place.runs < _SEEDS]
    if len(near) < 2 or not unrepeated:
        return []
    names = ", ".join(groups[place.configuration].name for place in near)
    why = (
        "what another seed would give is not known"
        if near[1].ruler in ("within", "unknown")
        else ("they cannot be separated with the repeats there are")
    )
    return [f"Repeat {names} with {_SEEDS} seeds each: {why}."]


def _health(leader: Configuration, runs: Sequence[Subject]) -> list[str]:
    for number in leader.runs:
        diagnosis = runs[number].diagnosis
        if diagnosis is None or diagnosis.verdict != "problem" or not diagnosis.problems:
            continue
        problem = diagnosis.problems[0]
        fixes = problem.hypotheses[0].fixes if problem.hypotheses else ()
        fix = f" {fixes[0].summary}" if fixes else ""
        return [
            f"Fix the leader before building on it: {runs[number].name} shows "
            f"{problem.symptom.replace('_', ' ')} ({problem.severity}).{fix}"
        ]
    return []


def _settled(sweep: Sweep | None) -> list[str]:
    """Settings that need no more runs."""
    if sweep is None or not any(effect.matters for effect in sweep.effects):
        return []
    idle = [e.setting for e in sweep.effects if not e.matters and e.high < 0.1]
    pairs = [pair.settings for pair in sweep.interactions] + [pair.settings for pair in sweep.combinations]
    involved = {name for pair in pairs for name in pair}
    idle = [name for name in idle if name not in involved]
    if not idle:
        return []
    return [
        f"Keep {', '.join(idle)} fixed: over the values tried, {'it' if len(idle) == 1 else 'they'} "
        "explained less than a tenth of the order; spend the runs on the settings that matter."
    ]
