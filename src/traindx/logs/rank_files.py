"""The ranks of one recording as the log of one training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from traindx.core import names
from traindx.core.nouns import Event
from traindx.logs.assemble import flatten
from traindx.logs.duplicate_curves import with_script_columns
from traindx.logs.endings import recorded_events
from traindx.logs.log import Column, Log
from traindx.logs.printed_text import PrintedText, ScriptColumn, script_columns
from traindx.logs.recordings import RecordingPart
from traindx.logs.run_facts import RunFacts

_CHECKSUMS = ("replica_checksum", "replica/checksum")
_ALIKE = 1e-6
_WRITTEN_LATE = 5.0


def log_of_ranks(ranks: Mapping[int, RecordingPart], facts: RunFacts, shown: str, *, last: bool) -> list[Log]:
    """One log, or those of the printed text when no step was recorded.

    The first rank that trains gives the plain names: a process that only starts others takes no step.
    `last` says that no other training follows in the recording.
    """
    columns_by_rank = {rank: ranks[rank].columns() for rank in sorted(ranks)}
    if not last:
        columns_by_rank = {rank: _own_columns(columns) for rank, columns in columns_by_rank.items()}
    first = next((rank for rank, columns in columns_by_rank.items() if _stepped(columns)), min(ranks))
    part = ranks[first]
    printing = part if part.output else ranks[min(ranks)]
    printed = PrintedText(printing.output, printing.started, shown)
    recorded = [column for column in columns_by_rank[first] if column.canonical]
    logged = script_columns(
        [c for c in columns_by_rank[first] if not c.canonical] + part.logged.columns(part.started)
    )
    events, notes = recorded_events(ranks, first, facts, printed, last=last)
    config = {**_gaps(printed.config(), facts.config), **facts.config}
    if not _stepped(columns_by_rank[first]):
        logs = _unstepped(recorded, logged, printed, config, events, notes)
        for log in logs:
            # That no step of a training was seen is all that is known of its inside.
            log.facts = {key: facts.inside[key] for key in ("framework",) if key in facts.inside}
        return logs
    events += _replicas(columns_by_rank, first)
    notes += _last_steps(ranks, ended=facts.ending is not None or not last)
    columns = with_script_columns(recorded, [("logged", logged), ("printed", printed.columns())])
    for rank in sorted(set(columns_by_rank) - {first}):
        columns += _of_rank(rank, columns_by_rank[rank] + ranks[rank].logged.columns(ranks[rank].started))
    inside = {**facts.inside, "sampled": part.samples.names()}
    return [Log(columns, "step", config, events, notes, facts=inside)]


def _stepped(columns: list[Column]) -> bool:
    return any(column.steps.max() > 0 for column in columns)


def _own_columns(columns: list[Column]) -> list[Column]:
    """Without an only evaluation after the last step: trainers judge the next model before it trains."""
    end = max((column.steps.max() for column in columns if column.name == "loss"), default=np.inf)
    return [
        column
        for column in columns
        if not (column.name.startswith("val/loss") and column.values.size == 1 and column.steps[0] >= end)
    ]


def _unstepped(
    recorded: list[Column],
    logged: list[ScriptColumn],
    printed: PrintedText,
    config: dict[str, object],
    events: list[Event],
    notes: list[str],
) -> list[Log]:
    """No optimizer step was seen: the text as any text log, else whatever there is, row by row."""
    rows = [_by_row(script.column) for script in logged]
    nowhere = [replace(event, step=None) for event in events]
    if printed.logs:
        notes = [*notes, "no optimizer step was recorded: this is what the script printed"]
        for log in printed.logs:
            log.config = {**log.config, **config}
            log.notes += notes
            log.events = [*log.events, *_new_events(nowhere, log.events)]
        taken_names = {names.canonical(column.name) for column in printed.logs[0].columns}
        for column in rows:
            column.canonical = (
                f"logged/{column.canonical}" if column.canonical in taken_names else column.canonical
            )
        printed.logs[0].columns += rows
        return printed.logs
    columns = rows + [_by_row(column) for column in recorded]
    why = "no optimizer step was recorded"
    ends = [event.text for event in nowhere if event.kind in ("exception", "out_of_memory", "exit")]
    notes = [why + (f"; it ended with {ends[-1]}" if ends else ""), *notes]
    return [Log(columns, "row", config, nowhere, notes)]


def _by_row(column: Column) -> Column:
    return replace(column, steps=np.arange(column.values.size, dtype=float), axis="row")


def _new_events(events: list[Event], known_events: list[Event]) -> Iterator[Event]:
    kinds = {event.kind for event in known_events}
    return (event for event in events if event.kind not in kinds)


def _gaps(printed: Mapping[str, object], recorded: Mapping[str, object]) -> dict[str, object]:
    """The printed settings that the recorder does not know."""
    settings = names.settings(flatten(recorded))
    return {
        key: value
        for key, value in printed.items()
        if key not in recorded and names.setting_name(key) not in settings
    }


def _of_rank(rank: int, columns: list[Column]) -> Iterator[Column]:
    for column in columns:
        name = column.canonical or names.canonical(column.name)
        yield replace(column, name=f"{column.name}/rank{rank}", canonical=f"{name}/rank{rank}")


def _replicas(columns_by_rank: Mapping[int, list[Column]], first: int) -> Iterator[Event]:
    """Weights that should be the same on all ranks and are not."""
    base = _checksum(columns_by_rank[first])
    for rank, columns in columns_by_rank.items():
        column = _checksum(columns)
        if rank == first or base is None or column is None:
            continue
        steps, in_base, in_column = np.intersect1d(base.steps, column.steps, return_indices=True)
        a, b = base.values[in_base], column.values[in_column]
        apart = np.abs(a - b) > _ALIKE * np.maximum(np.abs(a), np.abs(b))
        apart |= np.isfinite(a) != np.isfinite(b)
        if apart.any():
            at = int(np.flatnonzero(apart)[0])
            text = (
                f"the weights of rank {rank} differ from those of rank {first} at {int(apart.sum())} of "
                f"{apart.size} samples, first at step {steps[at]:g}: checksums {a[at]:.9g} and {b[at]:.9g}"
            )
            yield Event("replicas_differ", text, float(steps[at]))


def _checksum(columns: list[Column]) -> Column | None:
    return next((column for column in columns if column.name in _CHECKSUMS), None)


def _last_steps(ranks: Mapping[int, RecordingPart], *, ended: bool) -> Iterator[str]:
    """Ranks that stop at different steps; while they run they only write at different moments."""
    ends = {rank: last for rank, part in sorted(ranks.items()) if (last := part.rows.last) and last[0] > 0}
    if len({step for step, _ in ends.values()}) < 2:
        return
    times = [t for _, t in ends.values() if t is not None]
    if ended or (times and max(times) - min(times) > _WRITTEN_LATE):
        listed = ", ".join(f"rank {rank} at {step:g}" for rank, (step, _) in list(ends.items())[:8])
        suffix = ", ..." if len(ends) > 8 else ""
        yield f"the ranks stop at different steps: {listed}{suffix}"
