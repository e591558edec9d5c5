"""Many runs at a glance, worst first."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.core.nouns import Diagnosis
from traindx.report.cells import curve, span
from traindx.report.labelled import wrap
from traindx.report.layout import Column, Screen, fit, table, without_empty
from traindx.report.summary import main_series
from traindx.report.text import short, visible
from traindx.report.titles import symptom_title
from traindx.report.wording import beginning, percent, tally, worst_first

_LONG = 40
_HEALTHY_SHOWN = 10
_CURVE = 12
_WIDE = 90
_STYLES = {
    "critical": "alarm",
    "high": "red",
    "medium": "yellow",
    "no verdict": "warning",
    "healthy": "green",
}


def triage(diagnoses: Sequence[Diagnosis], screen: Screen, *, everything: bool = False) -> list[str]:
    """The counts, then a line per run; of many healthy runs only some, unless all are asked for."""
    ordered = worst_first(diagnoses)
    healthy = sum(diagnosis.verdict == "healthy" for diagnosis in ordered)
    hidden = healthy - _HEALTHY_SHOWN if len(ordered) > _LONG and not everything else 0
    shown = ordered[: len(ordered) - max(hidden, 0)]
    run, what, cause = (22, 14, 23) if screen.width >= _WIDE else (14, 10, 10)
    columns = [
        Column("verdict"),
        Column("run", least=run, keep="end", style="bold"),
        Column("what", least=what),
        Column("most likely", least=cause),
        Column("", "right"),
        Column("onset", "right", least=0),
        Column("points", "right", least=0, style="dim"),
        Column("", least=0, style="curve"),
    ]
    names = short_names([diagnosis.run.name for diagnosis in shown], run)
    rows = [_row(diagnosis, name, screen) for diagnosis, name in zip(shown, names, strict=True)]
    head, *lines = table(*without_empty(columns, rows), screen)
    painted = [_paint(line, row[0], screen) for line, row in zip(lines, rows, strict=True)]
    told = [screen.paint(line, "bold") for line in wrap(tally(diagnoses), screen.width, screen)]
    made = [*told, "", head, *painted]
    if hidden > 0:
        made.append(screen.paint(f"  and {hidden:,} more that are healthy; --all shows them", "dim"))
    return made if len(made) <= _LONG else [*made, "", *told]


def grade(diagnosis: Diagnosis) -> str:
    """One word: the severity of the worst problem, or that there is none to act on."""
    if diagnosis.verdict == "problem" and diagnosis.problems:
        return diagnosis.problems[0].severity
    return {"healthy": "healthy", "problem": "problem"}.get(diagnosis.verdict, "no verdict")


def short_names(names: Sequence[str], room: int) -> list[str]:
    """The names without the folder and the file name that all share.

    Ends tell runs apart best; where the room makes ends alike, what differs is shown instead.
    """
    shown = _without_shared([visible(name[-2000:], 400) for name in names])
    alike: dict[str, list[int]] = {}
    for number, name in enumerate(shown):
        alike.setdefault(fit(name, room, "end"), []).append(number)
    for group in alike.values():
        low, high = min(shown[n] for n in group), max(shown[n] for n in group)
        same = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
        if low != high:
            for number in group:
                part = shown[number] if same == 0 else f"…{shown[number][same:]}"
                shown[number] = fit(part, room)
    return shown


def _without_shared(names: Sequence[str]) -> list[str]:
    if len(set(names)) < 2:
        return list(names)
    parts = [name.split("/") for name in names]
    least = min(map(len, parts)) - 1
    first = next((i for i in range(least) if len({p[i] for p in parts}) > 1), least)
    same_file = least > first and len({p[-1] for p in parts}) == 1
    return ["/".join(p[first:-1] if same_file else p[first:]) for p in parts]


def _row(diagnosis: Diagnosis, name: str, screen: Screen) -> list[str]:
    run = diagnosis.run
    main = main_series(run)
    what = likely = sure = began = ""
    if diagnosis.problems:
        first, *others = diagnosis.problems
        what = visible(symptom_title(first.symptom), 60) + (f" +{len(others)}" if others else "")
        if diagnosis.verdict != "problem":
            what = f"({beginning(what)})"
        elif first.hypotheses:
            likely = visible(first.hypotheses[0].title, 80)
            sure = percent(first.hypotheses[0].confidence)
        if first.onset_step is not None and diagnosis.verdict == "problem":
            step = short(first.onset_step)
            began = step if run.axis == "step" else f"{run.axis} {step}"
    drawn = curve(main, span(run), screen, _CURVE) if main is not None else ""
    return [grade(diagnosis), name, what, likely, sure, began, f"{run.points:,}", drawn]


def _paint(line: str, word: str, screen: Screen) -> str:
    """The verdict in its colour; the table knows one style per column only."""
    return line.replace(word, screen.paint(word, _STYLES.get(word, "")), 1)
