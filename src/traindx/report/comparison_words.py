"""The sentences about a comparison, shared by every report."""

from __future__ import annotations

import math
from collections.abc import Sequence

from traindx.comparison.better import Placed
from traindx.comparison.compare import Comparison
from traindx.comparison.groups import Configuration
from traindx.comparison.parting import Parting
from traindx.evidence import stats
from traindx.report.combination_words import combination_headline
from traindx.report.comparison_measures import Measure, measures
from traindx.report.text import capitalised, count, rounded, short
from traindx.report.wording import grade, sentence, severity_rank, shown_problems

_NAME = 60
_STATES = frozenset({"critical", "high", "medium", "healthy", "failed"})
_RULERS = {
    "pooled": "measured against the spread between repeats of other configurations",
    "within": "measured against the noise within the runs",
}


def heading(compared: Comparison) -> str:
    """`12 runs of 4 configurations, by val/loss (lower is better)`."""
    runs = count(len(compared.runs), "run")
    several = len(compared.configurations) not in (1, len(compared.runs))
    kinds = f" of {count(len(compared.configurations), 'configuration')}" if several else ""
    return f"{runs}{kinds}, by {compared.chosen.name} ({compared.chosen.goal} is better)"


def verdict(compared: Comparison) -> list[str]:
    """Which is better and how surely, the leader's state, and other measures that disagree."""
    if compared.one_configuration:
        return ["All are repeats of one configuration: there is nothing to choose between."]
    if compared.leader is None:
        return [f"None is better: every run ended in NaN or Inf ({compared.chosen.name})."]
    if len(compared.ranking) < 2:
        return [
            f"Only {compared.leader.name} has {compared.chosen.name}: there is nothing to rank it against."
        ]
    sentences = [against(compared, compared.ranking[1])]
    others = compared.ranking[1:]
    if len(others) > 1:
        tied = [place for place in others if place.tied]
        if tied:
            tied_count = f"{count(len(tied), 'configuration')} of the {len(others):,} others"
            sentences.append(
                f"{tied_count} cannot be separated from the leader with these repeats and this noise."
            )
    if compared.sweep is not None:
        sentences += map(combination_headline, compared.sweep.combinations)
    sentences += _disagreeing(compared)
    state = leader_state(compared)
    return [*sentences, state] if state else sentences


def against(compared: Comparison, placed: Placed) -> str:
    """The leader against another configuration."""
    first = compared.ranking[0]
    leader, follower = (_name(compared.configurations[place.configuration]) for place in (first, placed))
    metric = compared.chosen.name
    if not placed.final.known:
        return f"{leader} ends at {metric} {short(first.final.value)}; {follower} ended in NaN or Inf."
    values = f"{metric} {short(first.final.value)} against {short(placed.final.value)} at the end"
    behind = placed.behind
    if behind is None or placed.ruler == "unknown":
        return (
            f"{leader} ends better than {follower} ({values}), but with so few points it is not known "
            "whether that is more than noise."
        )
    interval = interval_text(behind)
    if placed.tied and behind.sure:
        rivals = count(len(compared.ranking) - 1, "other")
        return (
            f"{leader} leads {follower}, though with {rivals} compared that may be chance: {values}; "
            f"{interval}{_basis(placed)}."
        )
    if placed.tied:
        return f"No clear difference between {leader} and {follower}: {values}; {interval}{_basis(placed)}."
    return f"{leader} is better than {follower}: {values}; {interval}{_basis(placed)}."


def interval_text(behind: stats.Difference) -> str:
    """`0.14 apart (0.12 to 0.16)`."""
    if not math.isfinite(behind.low):
        return f"{short(abs(behind.estimate))} apart"
    return f"{short(behind.estimate)} apart, 95 % interval {short(behind.low)} to {short(behind.high)}"


def _basis(placed: Placed) -> str:
    behind = placed.behind
    if behind is None:
        return ""
    if placed.ruler == "seeds":
        mine, theirs = behind.counts
        pairs = behind.kind == "paired"
        least = 2.0 ** (1 - mine) if pairs else 1.0 / math.comb(mine + theirs, mine)
        over = f"{count(mine, 'pair')} of runs with the same seed" if pairs else f"{theirs} and {mine} runs"
        limit = " (so few cannot give less)" if least > 0.05 and behind.p <= 2.001 * least else ""
        return f" over {over}, exact p = {probability(behind.p)}{limit}"
    if placed.ruler == "within":
        return f", {_RULERS['within']}; with one run each, what another seed would give is not known"
    return f", {_RULERS['pooled']}"


def probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.2g}"


def _disagreeing(compared: Comparison) -> list[str]:
    """Measures by which another configuration leads, clearly enough to be worth a sentence."""
    leader = compared.ranking[0].configuration
    sentences = []
    fair = ("best", "at_samples" if compared.terms.samples is not None else "at_step", "at_time")
    for measure in measures(compared):
        best = measure.leader
        if measure.key not in fair or best is None or best == leader:
            continue
        name = _name(compared.configurations[best])
        values = f"{short(measure.values[best])} against {short(measure.values[leader])}"
        if math.isfinite(measure.values[leader]):
            sentences.append(f"{capitalised(measure.words)}, {name} leads instead: {values}.")
    return sentences[:2]


def leader_state(compared: Comparison) -> str:
    """A sentence about the problems of the winner; empty when it has none."""
    if compared.leader is None:
        return ""
    ill = [health(compared, number) for number in compared.leader.runs if ailing(compared, number)]
    if not ill:
        return ""
    repeats = f" in {len(ill)} of {len(compared.leader.runs)} runs" if len(compared.leader.runs) > 1 else ""
    return f"The leader is not well{repeats}: {ill[0]}."


def ailing(compared: Comparison, number: int) -> bool:
    diagnosis = compared.runs[number].diagnosis
    return (diagnosis is not None and diagnosis.verdict == "problem") or bool(past_best(compared, number))


def health(compared: Comparison, number: int) -> str:
    """One line on the state of a run, next to its score."""
    diagnosis = compared.runs[number].diagnosis
    past = past_best(compared, number)
    if diagnosis is None:
        return past or "not diagnosed"
    problems = shown_problems(diagnosis)
    if diagnosis.verdict == "problem" and problems:
        worst = min(problems, key=lambda problem: severity_rank(problem.severity))
        further = f" (+{len(problems) - 1})" if len(problems) > 1 else ""
        return f"{worst.severity}: {sentence(worst, diagnosis.run)}{further}"
    word = grade(diagnosis)
    return f"{word}, but {past}" if past else word


def past_best(compared: Comparison, number: int) -> str:
    """A run that has been better: what it would have kept had it stopped there."""
    score = compared.scores[number]
    if score is None or not score.final.known or not math.isfinite(score.final.error):
        return ""
    lost = compared.chosen.sign * (score.final.value - score.best)
    bar = max(4.0 * score.final.error, 0.02 * abs(score.best))
    if not lost > bar:
        return ""
    return f"past its best ({short(score.best)} at {short(score.best_step)})"


def health_of(compared: Comparison, configuration: Configuration) -> str:
    """The state of repeats: the worst of them, and how many have a problem."""
    ill = [number for number in configuration.runs if ailing(compared, number)]
    if len(configuration.runs) == 1:
        return health(compared, configuration.runs[0])
    if not ill:
        states = {health(compared, number) for number in configuration.runs}
        return "healthy" if states == {"healthy"} else ", ".join(sorted(states))
    worst = min(ill, key=lambda number: severity_rank(health(compared, number).split(":")[0]))
    return f"{len(ill)} of {len(configuration.runs)}: {health(compared, worst)}"


def health_look(health: str) -> str:
    """The colour of such a line: that of its first word of state."""
    words = health.replace(",", ":").split(":")
    return next((word.strip() for word in words[:2] if word.strip() in _STATES), "")


def parting_words(compared: Comparison, parting: Parting) -> list[str]:
    """Where the leader and the next part, and what happened there."""
    pair = [_name(compared.configurations[place.configuration]) for place in compared.ranking[:2]]
    axis = compared.terms.axis or "step"
    if parting.step is None:
        return [f"{parting.metric}: {pair[0]} and {pair[1]} never part beyond their noise."]
    where = "from the start" if parting.from_start else f"at {axis} {short(parting.step)}"
    shortly = f"{short(parting.first)} against {short(parting.second)} shortly after"
    return [
        f"{parting.metric}: {pair[0]} and {pair[1]} part {where}: {shortly}.",
        *parting.happened,
    ]


def _name(configuration: Configuration) -> str:
    name = configuration.name
    return name if len(name) <= _NAME else f"…{name[-_NAME:]}"


def rows(compared: Comparison) -> tuple[list[Measure], list[tuple[Placed, Configuration]]]:
    """The measures worth a column, and the configurations in their order."""
    columns = [measure for measure in measures(compared) if measure.known]
    return columns, [(placed, compared.configurations[placed.configuration]) for placed in compared.ranking]


def final_text(placed: Placed) -> str:
    """A level with its standard error where one is known."""
    if not placed.final.known:
        return "NaN"
    failed = f" ({placed.failed} of {placed.runs} failed)" if placed.failed else ""
    if not math.isfinite(placed.final.error) or placed.final.error == 0:
        return short(placed.final.value) + failed
    return f"{short(placed.final.value)} ± {rounded(placed.final.error)}{failed}"


def behind_text(placed: Placed) -> str:
    """How far behind the leader, and whether that is sure."""
    if placed.rank == 1:
        return "leads"
    if placed.behind is None or not placed.final.known:
        return "failed" if not placed.final.known else ""
    gap = f"+{short(placed.behind.estimate)}"
    return f"{gap} (tied)" if placed.tied else f"{gap} (?)" if placed.ruler == "unknown" else gap


def not_changed(compared: Comparison) -> Sequence[str]:
    """What differs without counting, by its reason."""
    groups: dict[str, list[str]] = {}
    for setting in compared.differing:
        if not setting.counts and setting.group not in ("bookkeeping",) and setting.why:
            groups.setdefault(setting.why, []).append(setting.key)
    return [f"{', '.join(keys[:8])}{', ...' if len(keys) > 8 else ''}: {why}" for why, keys in groups.items()]
