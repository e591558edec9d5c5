"""What is behind a fact: its series, its table, its picture; as text, as JSON, as a PNG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from traindx import __version__
from traindx.core.nouns import Series
from traindx.report.brief.facts import Brief, BriefFact, estimated_tokens
from traindx.report.charts import Curves, Drawing
from traindx.report.curves import thinned
from traindx.report.document import Block, DocumentTable, TableColumn, Text, plain
from traindx.report.inside import inside_parts
from traindx.report.json_text import encoded
from traindx.report.layout import Screen
from traindx.report.marks import finding_marks, lr_marks
from traindx.report.measured import case_of
from traindx.report.panels import marked, panels_like, span
from traindx.report.runs_json import numbers
from traindx.report.text import count, short, value_text
from traindx.report.to_terminal import lines

SCHEMA = "traindx/brief/1"
SCHEMA_OF_ONE = "traindx/fact/1"
_POINTS_SHOWN = 24


def brief_dict(brief: Brief) -> dict[str, Any]:
    """All facts for programs, also those that the page leaves out."""
    page = brief.lines()
    document: dict[str, Any] = encoded(
        {
            "schema": SCHEMA,
            "traindx": __version__,
            "path": brief.path,
            "tokens": estimated_tokens("\n".join(page)),
            "facts": [
                {
                    "handle": handle,
                    "label": fact.label,
                    "text": fact.text,
                    "place": fact.place or None,
                    "behind": list(_kinds(brief, fact)),
                    "on_page": any(line.startswith(f"{handle} ") for line in page),
                }
                for handle, fact in brief.items()
            ],
        }
    )
    return document


def _kinds(brief: Brief, fact: BriefFact) -> Iterator[str]:
    if _series(brief, fact):
        yield "series"
    if fact.table is not None or fact.finding is not None:
        yield "table"
    if fact.diagnosis is not None:
        yield "run"


def fact_dict(brief: Brief, number: int) -> dict[str, Any]:
    """One fact with all points of its series and all rows of its table."""
    fact = brief.at(number)
    document: dict[str, Any] = encoded(
        {
            "schema": SCHEMA_OF_ONE,
            "traindx": __version__,
            "path": brief.path,
            "handle": brief.handle(number),
            "label": fact.label,
            "text": fact.text,
            "place": fact.place or None,
            "finding": _finding(fact),
            "table": _table(fact.table),
        }
    )
    series = [
        {
            "name": curve.name,
            "axis": curve.axis,
            "steps": numbers(curve.steps),
            "values": numbers(curve.values),
        }
        for curve in _series(brief, fact)
    ]
    return {**document, "series": series}


def _finding(fact: BriefFact) -> dict[str, Any] | None:
    finding = fact.finding
    if finding is None:
        return None
    names = ("id", "symptom", "severity", "step", "end", "strength", "numbers", "marks", "thresholds")
    return {name: getattr(finding, name) for name in names}


def _table(table: DocumentTable | None) -> dict[str, Any] | None:
    if table is None:
        return None
    rows = [[plain(cell) for cell in row] for row in table.rows]  # type: ignore[arg-type]
    return {"columns": [column.head for column in table.columns], "rows": rows}


def fact_lines(brief: Brief, number: int, screen: Screen) -> list[str]:
    """The fact, its numbers, its table and its series, thinned to what shows their shape."""
    fact = brief.at(number)
    return [f"{brief.handle(number)} {fact.line}", *lines(_blocks(brief, fact), screen)]


def _blocks(brief: Brief, fact: BriefFact) -> Iterator[Block]:
    if fact.finding is not None:
        values = [("severity", fact.finding.severity), *fact.finding.numbers.items()]
        values += [(f"threshold {name}", value) for name, value in fact.finding.thresholds.items()]
        rows = tuple((name.replace("_", " "), value_text(value)) for name, value in values)
        yield DocumentTable((TableColumn(""), TableColumn("", wrap=True)), rows)
        yield Text(f"traindx explain {fact.finding.id}")
    if fact.table is not None:
        yield fact.table
    for group in _by_steps(_series(brief, fact)):
        yield _points(group)


def _series(brief: Brief, fact: BriefFact) -> list[Series]:
    if brief.diagnosis is None:
        return []
    curves = brief.diagnosis.run.series
    return [curves[name] for name in fact.series if name in curves and len(curves[name])]


def _by_steps(series: Sequence[Series]) -> list[list[Series]]:
    """Groups of series with the same steps."""
    groups: list[list[Series]] = []
    for curve in series:
        for group in groups:
            if group[0].axis == curve.axis and np.array_equal(group[0].steps, curve.steps):
                group.append(curve)
                break
        else:
            groups.append([curve])
    return groups


def _points(group: Sequence[Series]) -> DocumentTable:
    first = group[0]
    steps = np.unique(
        np.concatenate([thinned(curve.steps, curve.values, _POINTS_SHOWN)[0] for curve in group])
        if len(first) > _POINTS_SHOWN
        else first.steps
    )
    at = np.searchsorted(first.steps, steps)
    rows = tuple(
        (short(float(first.steps[i])), *(short(float(curve.values[i])) for curve in group))
        for i in at.tolist()
    )
    extent = f" ({len(rows)} of {count(len(first), 'point')})" if len(rows) < len(first) else ""
    heads = (f"{first.axis}{extent}", *(curve.name for curve in group))
    return DocumentTable(tuple(TableColumn(head, "right") for head in heads), rows)


def fact_charts(brief: Brief, number: int) -> tuple[Drawing, ...]:
    """What can be drawn of a fact; nothing where it is about no curve and no layer."""
    fact, diagnosis = brief.at(number), brief.diagnosis
    if diagnosis is None:
        return ()
    case = case_of(diagnosis.run)
    if fact.picture:
        return tuple(part.drawing for part in inside_parts(case).get(fact.picture, ()))
    panels = panels_like(case, [curve.name for curve in _series(brief, fact)])
    if not panels:
        return ()
    marks = [*finding_marks(case, fact.finding)] if fact.finding is not None else []
    marks += lr_marks(case) if any(panel.metric == "lr" for panel in panels) else []
    return (Curves(tuple(marked(panels, marks)), case.run.axis, span(case)),)


def write_fact_picture(brief: Brief, number: int, path: Path) -> bool:
    """The picture of a fact; False where there is nothing to draw."""
    charts = fact_charts(brief, number)
    if not charts or brief.diagnosis is None:
        return False
    from traindx.report.to_png import Picture, write_picture

    title = f"{brief.diagnosis.run.name}: {brief.handle(number)} {brief.at(number).label}"
    write_picture(Picture(title, charts, brief.at(number).text), path)
    return True
