"""Hugging Face Trainer: `trainer_state.json`, in an output folder and in its `checkpoint-N` folders.

One list, `log_history`, mixes training rows, evaluation rows, rows of custom callbacks and a last
summary row. The summary (`train_loss` is a mean over the whole run, `train_runtime`, `total_flos`)
is no curve: it goes into the configuration under `summary.`, as do `all_results.json` and its kin.
Rows without a step take it from the epoch they name; rows that hold nothing but step and epoch are
skipped; text values are gaps; bare `NaN` and `Infinity` are values.

The run is the output folder. Every checkpoint holds the history up to itself: copies that begin a
longer history count once, a history that goes another way is a run of its own. The top-level fields
(`max_steps`, `num_train_epochs`, `train_batch_size`, ...), the model's `config.json` and
`adapter_config.json` give the configuration; `training_args.bin` is a pickle and is never opened.

A training loss of exactly 0.0 with a `grad_norm` that is not finite is a NaN that the Trainer
replaced (`logging_nan_inf_filter`); it is kept as written and reported as an event.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from traindx.core.nouns import Unreadable
from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import jsons
from traindx.logs.log import Log
from traindx.logs.log_file import File
from traindx.logs.tables import as_number, logs_from_table

STATE = "trainer_state.json"
_CONFIGS = {"config.json": "", "adapter_config.json": "adapter"}
_RESULTS = {f"{kind}_results.json" for kind in ("all", "train", "eval", "test", "predict")}
_HISTORY = re.compile(rb'"log_history"\s*:\s*\[')
_MODEL_KEYS = re.compile(rb'"(architectures|model_type|transformers_version|peft_type)"\s*:')
_CHECKPOINT = re.compile(r"checkpoint-\d+")
_NOT_CONFIG = {"log_history", "stateful_callbacks", "is_local_process_zero", "is_world_process_zero"}

Row = dict[str, object]


def claim(file: File) -> Claim | None:
    """A state by name or by its `log_history`; the model's configuration and results as parts."""
    if not file.name.endswith(".json") and file.shown != "-":
        return None
    if file.name == STATE and file.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{":
        return Claim(_output_folder(file))
    if file.name in _RESULTS:
        return Claim(file.folder, part=True) if (file.path.parent / STATE).is_file() else None
    if file.name in _CONFIGS:
        return Claim(_output_folder(file), part=True) if _MODEL_KEYS.search(file.head) else None
    if file.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and _HISTORY.search(file.head):
        return Claim(file.shown)
    return None


def _output_folder(file: File) -> str:
    folder = Path(file.folder)
    return str(folder.parent) if _CHECKPOINT.fullmatch(folder.name) else str(folder)


def read(bundle: Bundle) -> Iterator[Log]:
    """One log per history that is not the beginning of another."""
    shared: Row = {}
    histories = []
    for file in bundle.files:
        if file.name in _CONFIGS or file.name in _RESULTS:
            _add_part(file, shared)
        elif (history := _history(file)) is not None:
            histories.append(history)
    if not histories:
        raise Unreadable("it has no log_history")
    distinct = _without_beginnings(histories)
    for number, history in enumerate(distinct):
        yield from _logs(history, shared, "" if number == 0 else history.place)


@dataclass
class _History:
    """The rows of one state file, its summary rows taken out."""

    place: str
    rows: list[Row]
    config: Row
    marks: list[str] = field(default_factory=list)


def _history(file: File) -> _History | None:
    """What one state file holds; None, with a note, when it holds no history."""
    state = jsons.load_object(file) or {}
    log_history = state.get("log_history")
    if not isinstance(log_history, list):
        file.note("it has no log_history")
        return None
    config = {key: value for key, value in state.items() if key not in _NOT_CONFIG}
    rows, summary = [], {}
    for row in log_history:
        if not isinstance(row, dict):
            continue
        if "train_runtime" in row and "loss" not in row:
            summary.update(row)
        elif not row.keys() <= {"epoch", "step"}:
            rows.append(row)
    for axis in ("epoch", "step"):
        summary.pop(axis, None)
    if summary:
        config["summary"] = summary
    callbacks = state.get("stateful_callbacks")
    if isinstance(callbacks, dict):
        config["callbacks"] = {k: v for k, v in callbacks.items() if k != "TrainerControl"}
    return _History(Path(file.folder).name, rows, config, [repr(row) for row in rows])


def _without_beginnings(histories: Sequence[_History]) -> list[_History]:
    """The longest history first; of equal ones the one that has its summary."""
    ordered = sorted(histories, key=lambda h: (len(h.rows), "summary" in h.config), reverse=True)
    distinct: list[_History] = []
    for history in ordered:
        end = len(history.marks)
        if not any(longer.marks[:end] == history.marks for longer in distinct):
            distinct.append(history)
    return distinct


def _logs(history: _History, shared: Mapping[str, object], place: str) -> Iterator[Log]:
    config = {**shared, **history.config, "summary": {**_summary(shared), **_summary(history.config)}}
    if not history.rows:
        note = "log_history is empty: no loss or evaluation was logged"
        yield Log([], config=config, notes=[note], name=place)
        return
    for log in logs_from_table(jsons.table_of(_with_steps(history.rows)), config=config):
        log.name = " ".join(part for part in (place, log.name) if part)
        yield log


def _summary(config: Mapping[str, object]) -> Row:
    summary = config.get("summary")
    return summary if isinstance(summary, dict) else {}


def _with_steps(rows: list[Row]) -> list[Row]:
    """Rows that lack a step take it from the epoch, where other rows have both."""
    numbers = [(as_number(row.get("epoch")), as_number(row.get("step"))) for row in rows]
    counted_pairs = {(e, s) for e, s in numbers if e is not None and s is not None and np.isfinite(e + s)}
    if len(counted_pairs) < 2 or all(step is not None for _, step in numbers):
        return rows
    epochs, steps = np.array(sorted(counted_pairs)).T
    filled: list[tuple[float, Row]] = []
    for row, (epoch, step) in zip(rows, numbers, strict=True):
        if step is None and epoch is not None:
            step = float(np.interp(epoch, epochs, steps))
            row = {**row, "step": step}
        filled.append((step if step is not None else float(steps[-1]), row))
    return [row for _, row in sorted(filled, key=lambda pair: pair[0])]


def _add_part(file: File, shared: Row) -> None:
    """Settings of the model, or results written next to the state."""
    settings = jsons.load_object(file) or {}
    if file.name in _RESULTS:
        summary = shared.setdefault("summary", {})
        if isinstance(summary, dict):
            summary.update((k, v) for k, v in settings.items() if k not in ("epoch", "step"))
    elif prefix := _CONFIGS[file.name]:
        shared[prefix] = settings
    else:
        shared.update((k, v) for k, v in settings.items() if k not in ("id2label", "label2id"))
        labels = settings.get("id2label")
        if isinstance(labels, dict):
            shared.setdefault("num_labels", len(labels))


READER = Reader("hf-trainer", "Hugging Face Trainer", 20, claim, read)
