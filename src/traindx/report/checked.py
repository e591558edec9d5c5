"""The measurements of a checkpoint, a model or data without a training: one table for each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from traindx.core.facts import Fact, facts, number, word
from traindx.core.nouns import Run
from traindx.report.document import DocumentTable, Section, Span, TableColumn
from traindx.report.text import percent, rounded

_ROWS_MOST = 2000
_EIGENVALUES = {"largest": "largest eigenvalue", "smallest": "smallest eigenvalue"}


def checked_facts(run: Run) -> Fact:
    """The subject of a run without curves; empty for a training."""
    fact = run.facts.get("checked")
    return fact if isinstance(fact, Mapping) else {}


def checked_sections(run: Run) -> Iterator[Section]:
    """The tables of what was measured."""
    for title, fact, table in _TABLES:
        value = run.facts.get(fact)
        rows = facts([value] if fact == "curvature" else value)
        if rows:
            extent = f" (the first {_ROWS_MOST:,} of {len(rows):,})" if len(rows) > _ROWS_MOST else ""
            yield Section(f"{title}{extent}", (table(rows[:_ROWS_MOST]),), "card")


def measured_dict(run: Run) -> dict[str, Any]:
    """What was measured, for programs; nothing for a training."""
    return {"measured": dict(run.facts)} if checked_facts(run) else {}


def _layers(rows: Any) -> DocumentTable:
    """One row for each tensor of a checkpoint."""
    heads = ("shape", "type", "norm", "mean", "std", "min", "max", "zeros", "gain", "remarks")
    columns = (
        TableColumn("tensor", least=16, keep="end"),
        *(TableColumn(head, "left" if head in ("shape", "type", "remarks") else "right") for head in heads),
    )
    return DocumentTable(columns, tuple(_layer(row) for row in rows), look="layers", filtered=True)


def _layer(row: Fact) -> tuple[Span, ...]:
    sizes = row.get("shape")
    shape = " x ".join(map(str, sizes)) if isinstance(sizes, list) and sizes else "1"
    zeros = number(row, "zero_share") or 0.0
    return (
        Span(word(row, "name"), "code"),
        Span(shape),
        Span(word(row, "dtype")),
        *(_number(row, key) for key in ("norm", "mean", "std", "min", "max")),
        Span(percent(zeros) if zeros else "", value=zeros),
        _number(row, "gain"),
        Span(", ".join(_remarks(row))),
    )


def _number(row: Fact, key: str) -> Span:
    value = number(row, key)
    return Span("" if value is None else rounded(value, 3), value=value)


def _remarks(row: Fact) -> Iterator[str]:
    for key, words in (
        ("nonfinite", "not finite"),
        ("rows_zero", "units without weights"),
        ("rows_constant", "units with one value"),
        ("rows_equal", "units that repeat another"),
    ):
        if count := number(row, key):
            yield f"{count:,.0f} {words}"
    if law := word(row, "initial"):
        yield f"as initialised ({law})"


def _moved(rows: Any) -> DocumentTable:
    """What changed between two checkpoints, tensor by tensor."""
    columns = (
        TableColumn("tensor", least=16, keep="end"),
        *(TableColumn(head, "right") for head in ("norm before", "after", "change", "cosine", "largest")),
        TableColumn("remarks"),
    )
    cells = tuple(
        (
            Span(word(row, "name"), "code"),
            *(_number(row, key) for key in ("norm_before", "norm_after", "change", "cosine", "largest")),
            Span("did not move" if row.get("equal") else "another shape" if "shapes" in row else ""),
        )
        for row in rows
    )
    return DocumentTable(columns, cells, look="layers", filtered=True)


def _plain(*heads: str) -> Callable[[Any], DocumentTable]:
    """A table of the named numbers of each row."""

    def table(rows: Any) -> DocumentTable:
        columns = (
            TableColumn(heads[0].replace("_", " "), least=12, keep="end"),
            *(TableColumn(head.replace("_", " "), "right") for head in heads[1:]),
        )
        cells = tuple(
            (Span(str(row.get(heads[0], ""))), *(_number(row, head) for head in heads[1:])) for row in rows
        )
        return DocumentTable(columns, cells, look="layers", filtered=True)

    return table


def _curvature(rows: Any) -> DocumentTable:
    fact = rows[0]
    entries = [
        (_EIGENVALUES.get(key, key.replace("_", " ")), fact[key])
        for key in fact
        if isinstance(fact[key], int | float | str)
    ]
    cells = tuple(
        (Span(name), Span(value if isinstance(value, str) else rounded(value, 4))) for name, value in entries
    )
    return DocumentTable((TableColumn(""), TableColumn("")), cells, look="facts")


_TABLES: tuple[tuple[str, str, Callable[[Any], DocumentTable]], ...] = (
    ("Weights", "weights", _layers),
    (
        "Gradients",
        "gradients",
        _plain("name", "norm", "weight_norm", "mean", "std", "min", "max", "zero_share", "signal_to_noise"),
    ),
    (
        "Activations",
        "activations",
        _plain("name", "mean", "std", "min", "max", "zero_share", "dead_share", "flat_share"),
    ),
    ("Curvature", "curvature", _curvature),
    ("Loss by class", "by_class", _plain("class", "samples", "loss")),
    ("Samples of the highest loss, in the order of the loader", "hardest", _plain("index", "loss", "target")),
    ("Share of the loss's sensitivity by input feature", "features", _plain("feature", "share")),
    ("What moved, from the first checkpoint to the last", "moved", _moved),
)
