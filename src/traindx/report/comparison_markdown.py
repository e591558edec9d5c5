"""A comparison as Markdown."""

from __future__ import annotations

from traindx.comparison import Comparison
from traindx.report.comparison_sweep import sweep_sections
from traindx.report.comparison_words import (
    behind_text,
    final_text,
    heading,
    health_of,
    not_changed,
    parting_words,
    rows,
    verdict,
)
from traindx.report.markdown_text import code, escaped, fenced, table

_ROWS_MOST = 200
_VALUES_ACROSS = 6


def comparison_markdown(told: Comparison) -> str:
    """The whole comparison."""
    lines = ["# Comparison", "", escaped(heading(told)), ""]
    lines += [escaped(text) for text in verdict(told)]
    lines += ["", *_ranking(told)]
    lines += _listed("Beware", told.warnings)
    lines += ["", "## What differs", "", *_differing(told)]
    if told.parting is not None:
        lines += _listed("Where they part", parting_words(told, told.parting))
    for name, said in sweep_sections(told):
        lines += _listed(f"Sweep: {name}", said)
    lines += _listed("Next", told.advice)
    return "\n".join(lines).rstrip() + "\n"


def _listed(title: str, texts: tuple[str, ...] | list[str]) -> list[str]:
    if not texts:
        return []
    return ["", f"## {escaped(title)}", "", *(f"- {escaped(text)}" for text in texts)]


def _ranking(told: Comparison) -> list[str]:
    measured, placed = rows(told)
    heads = ["", "configuration", "runs", f"final {told.chosen.name}", "behind"]
    heads += [*(measure.head for measure in measured), "health"]
    made = [
        [
            str(place.rank),
            code(configuration.name, 120),
            str(len(configuration.runs)),
            escaped(final_text(place)),
            escaped(behind_text(place)),
            *(escaped(measure.texts[place.configuration]) for measure in measured),
            escaped(health_of(told, configuration)),
        ]
        for place, configuration in placed[:_ROWS_MOST]
    ]
    lines = table([escaped(head) for head in heads], made, right=range(3, 5 + len(measured)))
    if len(placed) > _ROWS_MOST:
        lines += ["", f"and {len(placed) - _ROWS_MOST:,} more; the JSON holds them all"]
    return lines


def _differing(told: Comparison) -> list[str]:
    shown = [one for one in told.differing if one.counts or one.group in ("seed", "environment")]
    shown = [one for one in shown if len(one.distinct) > 1]
    lines: list[str] = []
    if not shown and told.code is None:
        lines.append("Nothing that the logs tell of the settings.")
    elif shown and len(told.runs) <= _VALUES_ACROSS:
        heads = ["setting", "kind", *(code(run.name, 60) for run in told.runs)]
        cells = [
            [
                code(one.key, 60),
                one.group,
                *(code(value, 60) if value is not None else "" for value in one.values),
            ]
            for one in shown
        ]
        lines += table(heads, cells)
    elif shown:
        cells = [[code(one.key, 60), one.group, escaped(_some(one.distinct))] for one in shown]
        lines += table(["setting", "kind", "values"], cells)
    lines += [f"- {escaped(text)}" for text in not_changed(told)] and [
        "",
        *(f"- {escaped(text)}" for text in not_changed(told)),
    ]
    if told.code is not None:
        lines += ["", escaped(told.code.note)] if told.code.note else ["", *fenced(told.code.lines, "diff")]
    return lines


def _some(values: list[str]) -> str:
    return ", ".join(values[:12]) + (f", ... ({len(values):,} values)" if len(values) > 12 else "")
