"""How a comparison is put into words: shared by every report, so that all say the same."""

from __future__ import annotations

import math
from collections.abc import Sequence

from traindx.comparison import Comparison
from traindx.comparison.better import Placed
from traindx.comparison.groups import Configuration
from traindx.comparison.parting import Parting
from traindx.evidence import stats
from traindx.report.comparison_measures import Measure, measures
from traindx.report.text import count, short
from traindx.report.wording import grade, sentence, severity_rank, shown_problems

_NAME = 60
_STATES = frozenset({"critical", "high", "medium", "healthy", "failed"})
_RULERS = {
    "pooled": "measured against the spread between repeats of other configurations",
    "within": "measured against the noise within the runs",
}


def heading(told: Comparison) -> str:
    """`12 runs of 4 configurations, by val/loss (lower is better)`."""
    runs = count(len(told.runs), "run")
    several = len(told.configurations) not in (1, len(told.runs))
    kinds = f" of {count(len(told.configurations), 'configuration')}" if several else ""
    return f"{runs}{kinds}, by {told.chosen.name} ({told.chosen.goal} is better)"


def verdict(told: Comparison) -> list[str]:
    """Which is better and how surely, the leader's state, and other measures that disagree."""
    if told.one_configuration:
        return ["All are repeats of one configuration: there is nothing to choose between."]
    if told.leader is None:
        return [f"None is better: every run ended in NaN or Inf ({told.chosen.name})."]
    if len(told.ranking) < 2:
        return [f"Only {told.leader.name} has {told.chosen.name}: there is nothing to rank it against."]
    said = [against(told, told.ranking[1])]
    others = told.ranking[1:]
    if len(others) > 1:
        tied = [one for one in others if one.tied]
        if tied:
            said.append(
                f"{count(len(tied), 'configuration')} of the {len(others):,} others cannot be told from the "
                "leader by the repeats and the noise there are."
            )
    said += _disagreeing(told)
    state = leader_state(told)
    return [*said, state] if state else said


def against(told: Comparison, placed: Placed) -> str:
    """The leader against another configuration."""
    first = told.ranking[0]
    leader, other = (_name(told.configurations[one.configuration]) for one in (first, placed))
    metric = told.chosen.name
    if not placed.final.known:
        return f"{leader} ends at {metric} {short(first.final.value)}; {other} ended in NaN or Inf."
    values = f"{metric} {short(first.final.value)} against {short(placed.final.value)} at the end"
    behind = placed.behind
    if behind is None or placed.ruler == "unknown":
        return (
            f"{leader} ends better than {other} ({values}), but with so few points nothing tells whether "
            "that is more than noise."
        )
    interval = interval_text(behind)
    if placed.tied and behind.sure:
        others = count(len(told.ranking) - 1, "other")
        return (
            f"{leader} leads {other}, though with {others} compared that may be chance: {values}; "
            f"{interval}{_basis(placed)}."
        )
    if placed.tied:
        return f"No clear difference between {leader} and {other}: {values}; {interval}{_basis(placed)}."
    return f"{leader} is better than {other}: {values}; {interval}{_basis(placed)}."


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
        few = " (so few cannot give less)" if least > 0.05 and behind.p <= 2.001 * least else ""
        return f" over {over}, exact p = {probability(behind.p)}{few}"
    if placed.ruler == "within":
        return f", {_RULERS['within']}; with one run each, what another seed would give is not known"
    return f", {_RULERS['pooled']}"


def probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.2g}"


def _disagreeing(told: Comparison) -> list[str]:
    """Measures by which another configuration leads, clearly enough to be worth a sentence."""
    leader = told.ranking[0].configuration
    said = []
    fair = ("best", "at_samples" if told.terms.samples is not None else "at_step", "at_time")
    for measure in measures(told):
        best = measure.leader
        if measure.key not in fair or best is None or best == leader:
            continue
        name = _name(told.configurations[best])
        values = f"{short(measure.values[best])} against {short(measure.values[leader])}"
        if math.isfinite(measure.values[leader]):
            said.append(f"{_start(measure.words)}, {name} leads instead: {values}.")
    return said[:2]


def _start(words: str) -> str:
    return words[:1].upper() + words[1:]


def leader_state(told: Comparison) -> str:
    """Said when the winner is not well."""
    if told.leader is None:
        return ""
    ill = [health(told, number) for number in told.leader.runs if ailing(told, number)]
    if not ill:
        return ""
    some = f" in {len(ill)} of {len(told.leader.runs)} runs" if len(told.leader.runs) > 1 else ""
    return f"The leader is not well{some}: {ill[0]}."


def ailing(told: Comparison, number: int) -> bool:
    diagnosis = told.runs[number].diagnosis
    return (diagnosis is not None and diagnosis.verdict == "problem") or bool(past_best(told, number))


def health(told: Comparison, number: int) -> str:
    """One line on the state of a run, beside its score."""
    diagnosis = told.runs[number].diagnosis
    past = past_best(told, number)
    if diagnosis is None:
        return past or "not diagnosed"
    problems = shown_problems(diagnosis)
    if diagnosis.verdict == "problem" and problems:
        worst = min(problems, key=lambda problem: severity_rank(problem.severity))
        more = f" (+{len(problems) - 1})" if len(problems) > 1 else ""
        return f"{worst.severity}: {sentence(worst, diagnosis.run)}{more}"
    word = grade(diagnosis)
    return f"{word}, but {past}" if past else word


def past_best(told: Comparison, number: int) -> str:
    """A run that has been better: what it would have kept had it stopped there."""
    score = told.scores[number]
    if score is None or not score.final.known or not math.isfinite(score.final.error):
        return ""
    lost = told.chosen.sign * (score.final.value - score.best)
    bar = max(4.0 * score.final.error, 0.02 * abs(score.best))
    if not lost > bar:
        return ""
    return f"past its best ({short(score.best)} at {short(score.best_step)})"


def health_of(told: Comparison, configuration: Configuration) -> str:
    """The state of repeats: the worst of them, and how many are ill."""
    ill = [number for number in configuration.runs if ailing(told, number)]
    if len(configuration.runs) == 1:
        return health(told, configuration.runs[0])
    if not ill:
        states = {health(told, number) for number in configuration.runs}
        return "healthy" if states == {"healthy"} else ", ".join(sorted(states))
    worst = min(ill, key=lambda number: severity_rank(health(told, number).split(":")[0]))
    return f"{len(ill)} of {len(configuration.runs)}: {health(told, worst)}"


def health_look(health: str) -> str:
    """The colour of such a line: that of its first word of state."""
    words = health.replace(",", ":").split(":")
    return next((word.strip() for word in words[:2] if word.strip() in _STATES), "")


def parting_words(told: Comparison, parted: Parting) -> list[str]:
    """Where the leader and the next part, and what happened there."""
    pair = [_name(told.configurations[one.configuration]) for one in told.ranking[:2]]
    axis = told.terms.axis or "step"
    if parted.step is None:
        return [f"{parted.metric}: {pair[0]} and {pair[1]} never part beyond their noise."]
    where = "from the start" if parted.from_start else f"at {axis} {short(parted.step)}"
    shortly = f"{short(parted.first)} against {short(parted.second)} shortly after"
    return [
        f"{parted.metric}: {pair[0]} and {pair[1]} part {where}: {shortly}.",
        *parted.happened,
    ]


def _name(configuration: Configuration) -> str:
    name = configuration.name
    return name if len(name) <= _NAME else f"…{name[-_NAME:]}"


def rows(told: Comparison) -> tuple[list[Measure], list[tuple[Placed, Configuration]]]:
    """The measures worth a column, and the configurations in their order."""
    kept = [measure for measure in measures(told) if measure.told]
    return kept, [(placed, told.configurations[placed.configuration]) for placed in told.ranking]


def final_text(placed: Placed) -> str:
    """A level with its standard error where one is known."""
    if not placed.final.known:
        return "NaN"
    failed = f" ({placed.failed} of {placed.runs} failed)" if placed.failed else ""
    if not math.isfinite(placed.final.error) or placed.final.error == 0:
        return short(placed.final.value) + failed
    return f"{short(placed.final.value)} ± {rounded(placed.final.error)}{failed}"


def rounded(error: float) -> str:
    """An error in two digits."""
    return short(float(f"{error:.2g}"))


def behind_text(placed: Placed) -> str:
    """How far behind the leader, and whether that is sure."""
    if placed.rank == 1:
        return "leads"
    if placed.behind is None or not placed.final.known:
        return "failed" if not placed.final.known else ""
    told = f"+{short(placed.behind.estimate)}"
    return f"{told} (tied)" if placed.tied else f"{told} (?)" if placed.ruler == "unknown" else told


def not_changed(told: Comparison) -> Sequence[str]:
    """What differs without counting, by its reason."""
    groups: dict[str, list[str]] = {}
    for one in told.differing:
        if not one.counts and one.group not in ("bookkeeping",) and one.why:
            groups.setdefault(one.why, []).append(one.key)
    return [f"{', '.join(keys[:8])}{', ...' if len(keys) > 8 else ''}: {why}" for why, keys in groups.items()]
