"""traindx's own recordings: `.traindx/<run>/rank-<N>.jsonl` and `run.json`.

Format version 1. Each rank appends to its own file, one JSON object per line:

- a row of measurements: `{"t": 1731696000.25, "step": 120, "loss": 2.31, "lr": 0.0003}`. `t` is unix
  seconds, `step` the optimizer step, every other key a series. Bare NaN, Infinity and -Infinity
  are values; null and a missing key are gaps.
- an event: `{"t": 1731696001.5, "event": "overflow", "text": "loss scale halved", "step": 121}`.

`run.json` is one object: `{"version": 1, "name": "...", "config": {...}}`.

Series of ranks above 0 get the suffix `/rank<N>`. A torn last line, which a killed training leaves,
is passed over.
"""

from __future__ import annotations

import re
from pathlib import Path

from traindx.core import Event, Unreadable
from traindx.reading import jsons
from traindx.reading.lines import blocks
from traindx.reading.log import Log
from traindx.reading.source import File
from traindx.reading.tables import as_number, logs_from_table
from traindx.units import Bundle, Claim, Reader

VERSION = 1
_RANK = re.compile(r"rank-(?P<rank>\d{1,6})\.jsonl")


def claim(file: File) -> Claim | None:
    """A rank's file, or the `run.json` beside one."""
    if _RANK.fullmatch(file.name):
        ours = Path(file.folder).parent.name == ".traindx" or b'"t"' in file.head[:4096]
        return Claim(file.folder) if ours or (file.path.parent / "run.json").is_file() else None
    if file.name == "run.json" and (file.path.parent / "rank-0.jsonl").is_file():
        return Claim(file.folder, part=True)
    return None


def read(bundle: Bundle) -> list[Log]:
    """The ranks of one recording side by side; a restart in it begins another log."""
    logs: list[Log] = []
    config: dict[str, object] = {}
    for file in bundle.files:
        found = _RANK.fullmatch(file.name)
        if found is None:
            config = _config(file)
            continue
        rank = int(found["rank"])
        for number, log in enumerate(_rank(file)):
            if rank:
                for column in log.columns:
                    column.name += f"/rank{rank}"
            if number < len(logs):
                logs[number].columns += log.columns
                logs[number].events += log.events
            else:
                logs.append(log)
    for log in logs:
        log.config = dict(config)
    return logs


def _config(file: File) -> dict[str, object]:
    try:
        run = jsons.load_file(file)
    except Unreadable as error:
        file.note(str(error))
        return {}
    if not isinstance(run, dict):
        return {}
    version = run.get("version", VERSION)
    if isinstance(version, int) and version > VERSION:
        file.note(f"written by a newer traindx (recording version {version}, this one knows {VERSION})")
    config = run.get("config")
    return config if isinstance(config, dict) else {}


def _rank(file: File) -> list[Log]:
    table = jsons.read_table(file)
    for name in ("event", "text"):
        table.values.pop(name, None)
        table.present.pop(name, None)
    step = "step" if "step" in table.values else None
    logs = logs_from_table(table, step=step, times="t")
    events = _events(file)
    if not logs:
        return [Log([], events=events)] if events else []
    logs[-1].events += events
    return logs


def _events(file: File) -> list[Event]:
    found = []
    for block in blocks(File(file.path, file.shown)):
        if b'"event"' not in block:
            continue
        for line in block.split(b"\n"):
            row = jsons.parse_line(line) if b'"event"' in line else None
            if row is not None and "event" in row:
                found.append(Event(str(row["event"]), str(row.get("text", "")), as_number(row.get("step"))))
    return found


READER = Reader("recording", "traindx recording", 10, claim, read)
