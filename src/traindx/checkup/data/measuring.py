"""Files -> facts: every measurement of a data set, within a budget of time."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter, process_time
from typing import Any

import numpy as np

from traindx.checkup.data.blank import blank_rows
from traindx.checkup.data.columns import column_facts, copied_columns, out_of_order, unit_changes
from traindx.checkup.data.files import TABLES, joined_targets, read_file
from traindx.checkup.data.images import has_images, image_parts
from traindx.checkup.data.pairs import pair_facts, repeats
from traindx.checkup.data.part import DataPart, column_of_classes, last_column, split_of, target_among
from traindx.checkup.data.stored import documents, statistic_facts, vocabulary_facts
from traindx.checkup.data.targets import target_facts
from traindx.checkup.data.texts import text_facts
from traindx.core import files
from traindx.core.nouns import Unreadable

_DOCUMENTS = (".json", ".yaml", ".yml", ".npz", ".txt")
_HASHED = 256 << 20
_SPLIT_COLUMNS = ("split", "fold", "subset", "partition", "set")


@dataclass
class Clock:
    """How much time is left; what was left out for want of it.

    Its own work counts, so that a busy machine makes it no poorer; at most thrice as long by the clock.
    """

    seconds: float = math.inf
    started: float = field(default_factory=perf_counter)
    worked: float = field(default_factory=process_time)
    left_out: list[str] = field(default_factory=list)

    def has_time(self, activity: str) -> bool:
        """Whether there is time for something; what there is none for is kept."""
        if process_time() - self.worked < self.seconds and self.spent < 3 * self.seconds:
            return True
        if activity not in self.left_out:
            self.left_out.append(activity)
        return False

    @property
    def spent(self) -> float:
        return perf_counter() - self.started


def profile(
    paths: Sequence[str],
    *,
    target: str = "",
    seconds: float = math.inf,
    lines: Mapping[str, str] | None = None,
    guess: bool = False,
    classes: Sequence[int] = (),
) -> dict[str, Any]:
    """What is measured of files and folders; `lines` say where a script opens them.

    Where no column is called like a target it is the one whose values are as frequent as the `classes` that
    a training was seen to learn; with `guess`, the last one.
    """
    clock = Clock(seconds)
    parts: list[DataPart] = []
    listed: list[dict[str, Any]] = []
    images: list[dict[str, Any]] = []
    for path in paths:
        entry: dict[str, Any] = {"path": path, "name": os.path.basename(os.path.normpath(path))}
        if line := (lines or {}).get(path):
            entry["line"] = line
        listed.append(entry)
        if not clock.has_time(entry["name"]):
            entry["why"] = "no time was left for it"
            continue
        try:
            file_parts = _parts(path, images)
        except Unreadable as error:
            entry["why"] = str(error).removeprefix(f"{path}: ")
            continue
        parts += file_parts
        entry |= _described(path, file_parts)
    facts = _stored(paths, parts, clock)
    facts |= measured(prepared(parts, target, guess=guess, classes=classes), clock)
    facts |= {"data_files": listed, "data_images": images}
    facts["data_checked"] = {"seconds": round(clock.spent, 2), "left_out": clock.left_out}
    plain: dict[str, Any] = _plain(facts)
    return plain


def _parts(path: str, images: list[dict[str, Any]]) -> list[DataPart]:
    if not os.path.isdir(path):
        return read_file(path) if path.lower().endswith((*TABLES, ".json")) else []
    if has_images(path):
        parts, image_facts = image_parts(path)
        images.append(image_facts)
        return parts
    table_parts = []
    for name in sorted(os.listdir(path)):
        if name.lower().endswith(TABLES):
            table_parts += read_file(os.path.join(path, name))
    if not table_parts:
        raise Unreadable(f"{path}: the folder holds no data that is read: {', '.join(TABLES)} or images")
    return table_parts


def _described(path: str, parts: Sequence[DataPart]) -> dict[str, Any]:
    """Size and hash of a file, and how much of it was read."""
    described: dict[str, Any] = {}
    if parts:
        described["rows"] = max(part.total for part in parts)
        described["read_rows"] = max(map(len, parts))
    if os.path.isfile(path) and os.path.getsize(path) <= _HASHED:
        digest = hashlib.sha256()
        with files.opened(path) as file:
            while block := file.read(1 << 20):
                digest.update(block)
        described |= {"size": os.path.getsize(path), "sha256": digest.hexdigest()}
    return described


def prepared(
    parts: Iterable[DataPart], target: str = "", *, guess: bool = False, classes: Sequence[int] = ()
) -> list[DataPart]:
    """Parts with their targets: from a file of their own, by the name given, by the classes of a training;
    split by a column that says so.
    """
    prepared_parts: list[DataPart] = []
    for part in joined_targets(list(parts)):
        if target and (target in part.names or target in part.words):
            part = replace(part, target=target)
        elif not part.target:
            name = target_among([*part.names, *part.words]) or column_of_classes(part, classes)
            part = replace(part, target=name or (last_column(part) if guess else ""))
        prepared_parts += _by_split(part)
    return prepared_parts


def _by_split(part: DataPart) -> list[DataPart]:
    """A part for each value of a column like `split`, where its values are names of splits."""
    for name in _SPLIT_COLUMNS:
        values = part.words.get(name)
        if (
            values is not None
            and 2 <= len(set(values)) <= 4
            and all(split_of(value) for value in set(values))
        ):
            kinds = np.array([split_of(value) for value in values])
            words = {key: column for key, column in part.words.items() if key != name}
            without_column = replace(part, words=words)
            return [
                replace(
                    without_column.taken(np.flatnonzero(kinds == kind)),
                    split=str(kind),
                    name=f"{part.name} ({kind})",
                )
                for kind in np.unique(kinds)
            ]
    return [part]


def measured(parts: Sequence[DataPart], clock: Clock) -> dict[str, Any]:
    """The facts of parts: their columns, pairs and targets, the cheap ones first."""
    columns: list[dict[str, Any]] = []
    changes: list[dict[str, Any]] = []
    texts: list[dict[str, Any]] = []
    blank: list[dict[str, Any]] = []
    targets: list[dict[str, Any]] = []
    for part in parts:
        if clock.has_time(f"the columns of {part.name}"):
            columns += column_facts(part)
            columns += copied_columns(part)
            columns += out_of_order(part)
            changes += unit_changes(part)
            texts += text_facts(part)
            blank += [rows] if (rows := blank_rows(part)) else []
    pairs = pair_facts(parts) if clock.has_time("rows in two files") else []
    for part in sorted(parts, key=lambda part: part.split not in ("train", "")):
        if clock.has_time(f"the target of {part.name}"):
            fact = target_facts(part, _in_time(clock, part))
            targets += [fact] if fact is not None else []
    without = [part.name for part in parts if not part.target]
    return {
        "data_tables": [_table(part) for part in parts],
        "data_columns": columns,
        "data_changes": changes,
        "data_texts": texts,
        "data_blank": blank,
        "data_pairs": pairs,
        "data_repeats": [repeat_fact for part in parts if (repeat_fact := repeats(part))],
        "data_targets": targets,
        "data_without_target": without,
    }


def _table(part: DataPart) -> dict[str, Any]:
    columns = [*part.names, *part.words]
    fact = {"table": part.name, "rows": part.total, "columns": columns[:300], "width": len(columns)}
    return {**fact, "target": part.target, "split": part.split}


def _in_time(clock: Clock, part: DataPart) -> Callable[[], bool]:
    return lambda: clock.has_time(f"the target of {part.name}")


def _stored(paths: Sequence[str], parts: Sequence[DataPart], clock: Clock) -> dict[str, Any]:
    statistics: list[dict[str, Any]] = []
    vocabularies: list[dict[str, Any]] = []
    ready = prepared(parts)
    for path in paths:
        if path.lower().endswith(_DOCUMENTS) and clock.has_time(os.path.basename(path)):
            document = documents(path)
            statistics += statistic_facts(path, document, ready)
            vocabularies += vocabulary_facts(path, document, ready)
    return {"data_statistics": statistics, "data_vocabularies": vocabularies}


def _plain(value: Any) -> Any:
    """As JSON holds it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
