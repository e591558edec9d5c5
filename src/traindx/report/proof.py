"""Whether a change is better, as one screen: the answer with its numbers, the pairs, what else differs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING, Any

from traindx import __version__
from traindx.experiment.measure import finite_mean, gain
from traindx.knowledge.catalogue import symptoms
from traindx.report.document import (
    Block,
    Document,
    DocumentTable,
    Labelled,
    Section,
    TableColumn,
    Verdict,
    code,
)
from traindx.report.text import capitalised, count, lasting, percent, short

if TYPE_CHECKING:
    from traindx.core.nouns import Run
    from traindx.experiment.prove.results import Proved, VersionVerdict

SCHEMA = "traindx/proof/1"
_LOOKS = {"better": "healthy", "worse": "critical", "no difference": "no-verdict", "cannot tell": "medium"}
# A change of the time for a step, or of memory, that is worth a word.
_WORTH = 0.1
_ABOUT = (
    "A pair is the same seed in both versions. The interval is of the mean gain over the pairs (95 %); p is "
    "exact, of the sign-flip test. Better and worse are said only where an interval that allows for every "
    "look at the pairs leaves zero out."
)


def proof_document(proved: Proved, program: str) -> Document:
    blocks = tuple(proof_blocks(proved))
    return Document(("Is it better? ", code(program)), "proof", blocks, _ABOUT)


def proof_blocks(proved: Proved) -> Iterator[Block]:
    """The answer about the best version, then the others."""
    best = proved.best
    yield Verdict(best.answer.upper(), (headline(best),), _LOOKS[best.answer], tuple(_details(proved, best)))
    others = proved.verdicts[1:]
    if others:
        columns = (
            TableColumn("version", wrap=True),
            TableColumn("answer"),
            TableColumn("before -> after", wrap=True),
            TableColumn("pairs", "right"),
            TableColumn("", wrap=True),
        )
        rows = tuple(
            (verdict.version.name, verdict.answer, _levels(verdict), str(len(verdict.pairs)), verdict.reason)
            for verdict in others
        )
        yield Section("The other versions", (DocumentTable(columns, rows),))


def headline(verdict: VersionVerdict) -> str:
    """One sentence with the numbers."""
    name = verdict.version.name
    if not verdict.pairs:
        return f"{name}: {verdict.reason}."
    parts = [f"{verdict.by.words} {_levels(verdict)}"]
    parts.append(_spread(verdict))
    text = f"{name}: {', '.join(part for part in parts if part)}."
    return f"{text} {capitalised(verdict.reason)}." if verdict.reason else text


def _spread(verdict: VersionVerdict) -> str:
    if verdict.decision is None:
        return ""
    difference, pairs = verdict.decision.difference, verdict.pairs
    ahead = sum(gain(verdict.by, pair.before, pair.after) > 0 for pair in pairs)
    text = f"better in {ahead} of {count(len(pairs), 'pair')}"
    if math.isfinite(difference.low):
        upper = difference.high if verdict.by.higher else min(1.0, difference.high)
        interval = f"{_signed(difference.low)} to {_signed(upper)}"
        text += f", gain {_signed(verdict.gain)} ({interval})"
    least = 2.0 ** (1 - len(pairs))
    lowest = f", the least that {len(pairs)} pairs can give" if difference.p <= least and least > 0.05 else ""
    return f"{text}, exact p = {difference.p:.2g}{lowest}"


def _signed(share: float) -> str:
    return f"{100 * share:+.1f} %"


def _levels(verdict: VersionVerdict) -> str:
    if not verdict.pairs:
        return ""
    means = [
        finite_mean([pair.before.value for pair in verdict.pairs]),
        finite_mean([pair.after.value for pair in verdict.pairs]),
    ]
    return " -> ".join("not finite" if mean is None else short(mean) for mean in means)


def _details(proved: Proved, best: VersionVerdict) -> Iterator[Block]:
    if best.pairs:
        values = [f"{short(pair.before.value)} -> {short(pair.after.value)}" for pair in best.pairs]
        yield Labelled("pairs", ", ".join(values))
    yield from _symptom(proved, best)
    further = [change.text for change in best.scores.changes if change.by.name != best.by.name]
    if further:
        yield Labelled("also", "; ".join(further[:3]))
    costs = list(_costs(proved, best))
    if costs:
        yield Labelled("resources", "; ".join(costs))
    alike = [likeness.what for likeness in best.likenesses if likeness.same]
    if alike:
        yield Labelled("same", f"{', '.join(alike)}")
    for likeness in best.likenesses:
        if likeness.same is False and not likeness.spoils:
            yield Labelled("differs", likeness.text, "yellow")
    unknown = [likeness.what for likeness in best.likenesses if likeness.same is None]
    if unknown and best.pairs:
        yield Labelled("unknown", f"whether these are the same: {', '.join(unknown)}", "dim")
    if proved.shortened:
        agrees = {
            True: "one whole pair agrees",
            False: "one whole pair disagrees",
            None: "not checked on whole runs",
        }
        yield Labelled("length", f"{proved.shortened}; {agrees[best.whole_agrees]}", "yellow")
    cost = proved.cost
    yield Labelled(
        "cost", f"{count(cost.arms, 'run')}, {lasting(cost.seconds)} of running; {proved.stopped}", "dim"
    )


def _symptom(proved: Proved, best: VersionVerdict) -> Iterator[Block]:
    problems = proved.diagnosis.problems if proved.diagnosis is not None else ()
    if problems and best.symptom_gone is not None:
        title = symptoms()[problems[0].symptom].title
        yield Labelled("symptom", f"{title}: {'gone' if best.symptom_gone else 'still there'}")
    if best.new_problems:
        titles = [symptoms()[symptom].title for symptom in best.new_problems]
        yield Labelled("new", f"{', '.join(titles)}: not there before", "red")


def _costs(proved: Proved, best: VersionVerdict) -> Iterator[str]:
    for name, words in (("step_s", "time a step"), ("rss_bytes", "memory at its peak")):
        sides = [_typical(outcomes, name) for outcomes in (proved.baseline, best.outcomes)]
        if sides[0] and sides[1] and abs(sides[1] / sides[0] - 1) > _WORTH:
            yield f"{words} {percent(sides[1] / sides[0])} of before"


def _typical(outcomes: tuple[Any, ...], name: str) -> float | None:
    """The median over runs of the usual time of a step, or of the most memory."""
    runs: list[Run] = [
        outcome.run for outcome in outcomes if outcome.run is not None and name in outcome.run.series
    ]
    values = [run.series[name].values for run in runs if len(run.series[name])]
    if not values:
        return None
    return median(
        float(series.max()) if name == "rss_bytes" else median(series.tolist()) for series in values
    )


def proof_dict(proved: Proved, program: str) -> dict[str, Any]:
    """Everything for programs."""
    return {
        "schema": SCHEMA,
        "traindx": __version__,
        "program": program,
        "answer": proved.best.answer,
        "before": proved.before.name,
        "versions": [_version(verdict) for verdict in proved.verdicts],
        "shortened": proved.shortened or None,
        "stopped": proved.stopped,
        "runs": proved.cost.arms,
        "seconds": round(proved.cost.seconds, 2),
        "outside": proved.outside,
    }


def _version(verdict: VersionVerdict) -> dict[str, Any]:
    difference = verdict.decision.difference if verdict.decision is not None else None
    return {
        "name": verdict.version.name,
        "answer": verdict.answer,
        "reason": verdict.reason or None,
        "metric": verdict.by.name,
        "higher_is_better": verdict.by.higher,
        "pairs": [
            {"seed": pair.seed, "before": pair.before.value, "after": pair.after.value}
            for pair in verdict.pairs
        ],
        "gain": verdict.gain if verdict.pairs else None,
        "interval": [difference.low, difference.high] if difference is not None else None,
        "p": difference.p if difference is not None else None,
        "symptom_gone": verdict.symptom_gone,
        "new_problems": list(verdict.new_problems),
        "scores": [
            {"metric": change.by.name, "last": list(change.last), "best": list(change.best)}
            for change in verdict.scores.changes
        ],
        "compared": [
            {
                "what": likeness.what,
                "same": likeness.same,
                "text": likeness.text or None,
                "spoils": likeness.spoils,
            }
            for likeness in verdict.likenesses
        ],
        "whole_agrees": verdict.whole_agrees,
    }
