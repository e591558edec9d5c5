"""TensorBoard event files (`events.out.tfevents.*`), read without TensorBoard.

Scalars of every kind are read: `simple_value` (PyTorch, TF1), tensors with their bytes in
`tensor_content` (TF2, the `.v2` files) or in `float_val`, `double_val`, `int_val`, `half_val` and the
other fields, of every numeric type. NaN and Inf are kept, wall times too. Steps are what the writer
counted: different tags may count different things (steps, epochs).

The files of one folder are one run, in the order of the time in their names. Folders `train/`,
`validation/`, `val/`, `eval/`, `test/` next to each other (or below a folder that holds event files
itself) are the splits of one run; a lone `train/` is the name of a run. The folders that
`SummaryWriter.add_scalars` and `add_hparams` make below the run's folder belong to it.

A later file whose tags begin again where they began is another training. One that begins inside what
had been logged is a resume: the points it supersedes are dropped and the resume is reported. The same
holds inside one file. Steps that start again with each epoch are joined into one count. Where every
point has one and the same step, the points are counted instead.

Configuration comes from text summaries (Hugging Face's `args` and `model_config`; JSON, Python dicts,
Markdown tables, `key: value` lines) and from the hparams plugin. Files that hold no scalars (a graph
only, a run that died early) are named with what they hold.

Checksums are checked. A damaged part is skipped and reading continues at the next sound record;
a last record that is cut off is usual for a live run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from traindx.core import names
from traindx.core.nouns import Unreadable
from traindx.core.units import Bundle, Claim, Reader
from traindx.logs.log import Column, Log
from traindx.logs.log_file import File, natural

if TYPE_CHECKING:
    from traindx.logs.tfevents.runs import LoggedTraining, Track, Tracks

_NAME = re.compile(r"^(?P<lead>.*?)(?:events?\.)?(?:out\.)?tfevents(?:\.(?P<time>\d+))?(?:\.|$)")
_SESSION = re.compile(r"^\d{9,}\.\d+$")


def claim(file: File) -> Claim | None:
    """Event files are known by their name and their first record."""
    match = _NAME.match(file.name)
    if match is None or not _is_event_file(file.head):
        return None
    lead = match["lead"].rstrip("_-. ")
    if lead:
        return Claim(os.path.join(file.folder, lead))
    return Claim(_run_folder(file))


def _is_event_file(head: bytes) -> bool:
    """Whether the first record is an event; a cut or damaged one is given the benefit of the doubt."""
    if len(head) < 24 or head[12] == 0x09:
        return True
    return b"brain.Event" in head[:64]


def _run_folder(file: File) -> str:
    """The run's folder: the file's own, or the one above when the file's own is a part of the run."""
    folder, above = Path(file.folder), Path(file.folder).parent
    disk = file.path.parent
    if folder == above or not folder.name:
        return file.folder
    split = names.split_of(folder.name)
    if split and (_holds_events(disk.parent) or _sibling_splits(disk)):
        return str(above)
    if _SESSION.match(folder.name) and _holds_events(disk.parent):
        return str(above)
    if "_" in folder.name and _is_part_of_tag(file.head, folder.name) and _holds_events(disk.parent):
        return str(above)
    return file.folder


def _holds_events(folder: Path) -> bool:
    try:
        return any("tfevents" in name for name in os.listdir(folder))
    except OSError:
        return False


def _sibling_splits(folder: Path) -> bool:
    try:
        siblings = [
            name for name in os.listdir(folder.parent) if name != folder.name and names.split_of(name)
        ]
    except OSError:
        return False
    return any(_holds_events(folder.parent / name) for name in siblings)


def _is_part_of_tag(head: bytes, folder: str) -> bool:
    """Whether the folder is named for its first tag, as `add_scalars` does: `loss_val` holds `loss`."""
    return any(
        folder.startswith(_as_folder(tag.decode("utf-8", "replace")))
        for tag in re.findall(rb"\x2a.\x0a.\x0a.([ -~]{1,126})\x15", head[:4096], re.DOTALL)[:1]
    )


def _as_folder(tag: str) -> str:
    return tag.replace("/", "_") + "_"


def read(bundle: Bundle) -> Iterable[Log]:
    """One log per training in the run's files."""
    from traindx.logs.tfevents.runs import trainings

    folders: dict[str, list[File]] = {}
    for file in sorted(bundle.files, key=_by_time):
        folders.setdefault(file.folder, []).append(file)
    by_folder: list[tuple[str, list[LoggedTraining]]] = []
    failed: list[str] = []
    spare: dict[str, object] = {}
    for folder, files in folders.items():
        contents = []
        for file in files:
            try:
                contents.append(_content(file))
            except Unreadable as error:
                file.note(str(error))
                failed.append(str(error))
        for tracks, config in contents:
            if not tracks:
                spare.update(config)
        by_folder.append((folder, trainings(contents)))
    if len(failed) == len(bundle.files):
        raise Unreadable(failed[0])
    return _logs(bundle.run, by_folder, spare)


def _by_time(file: File) -> tuple[float, list[tuple[int, int, str]]]:
    match = _NAME.match(file.name)
    return float((match and match["time"]) or 0), natural(file.name)


def _content(file: File) -> tuple[Tracks, dict[str, object]]:
    from traindx.logs.tfevents import record
    from traindx.logs.tfevents.events import Decoder
    from traindx.logs.tfevents.runs import tracks_of
    from traindx.logs.tfevents.text_config import config_of

    damage, decoder = record.Damage(), Decoder()
    for block in record.blocks(file, damage):
        decoder.add(block)
    scalars = decoder.scalars()
    for text in damage.notes():
        file.note(text)
    if not scalars.tag.size:
        contents = ", ".join(f"{count} {kind}" for kind, count in scalars.others.most_common()) or "nothing"
        file.note(f"event file without scalars; it holds {contents}")
    return tracks_of(scalars), {**config_of(scalars.texts), **scalars.hparams}


def _logs(
    run: str, by_folder: Sequence[tuple[str, list[LoggedTraining]]], spare: dict[str, object]
) -> list[Log]:
    """The trainings of the folders put together: each joins the one of the main folder it began in."""
    main = max((trainings for _, trainings in by_folder), key=len, default=[])
    logs = [Log([], config=dict(spare)) for _ in main]
    for folder, trainings in by_folder:
        for number, training in enumerate(trainings):
            at = number
            if len(trainings) != len(main):
                started = [i for i, candidate in enumerate(main) if candidate.began <= training.began + 60]
                at = max(started, default=0)
            log = logs[at]
            log.config.update(training.config)
            log.events += training.events
            if training.stepless:
                log.axis = "row"
                log.notes.append("every point was logged at the same step; the points are counted instead")
                for track in training.tracks.values():
                    track.steps = np.arange(track.steps.size, dtype=float)
            log.columns += [_column(run, folder, tag, track) for tag, track in training.tracks.items()]
    for log in logs:
        _by_epoch(log)
    return logs if logs or not spare else [Log([], config=spare)]


def _by_epoch(log: Log) -> None:
    """Keras logs `epoch_*` by epoch, and validation a second time as `evaluation_*_vs_iterations`."""
    validation = [c for c in log.columns if c.split == "val" and c.name.startswith("epoch_")]
    epochs = {column.name.removeprefix("epoch_"): column for column in validation}
    columns = []
    for column in log.columns:
        match = re.fullmatch("evaluation_(.+)_vs_iterations", column.name)
        twin = epochs.get(match[1]) if match else None
        if twin is None or not np.array_equal(twin.values, column.values, equal_nan=True):
            columns.append(column)
    log.columns = columns
    if columns and all(column.name.startswith("epoch_") for column in columns):
        log.axis = "epoch"


def _column(run: str, folder: str, tag: str, track: Track) -> Column:
    """A column; a folder below the run's adds its split, or what `add_scalars` put in its name."""
    if folder == run or not folder.startswith(run):
        return Column(tag, track.steps, track.values, track.times)
    below = os.path.basename(folder)
    split = names.split_of(below)
    if not split and below.startswith(_as_folder(tag)):
        rest = below[len(_as_folder(tag)) :]
        split = names.split_of(rest)
        tag = tag if split else f"{tag}/{rest}"
    return Column(tag, track.steps, track.values, track.times, split or None)


READER = Reader("tensorboard", "TensorBoard event files", 10, claim, read)
