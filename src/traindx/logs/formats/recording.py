"""traindx's own recordings: `.traindx/<run>/rank-<N>.jsonl` and `run.json`.

The format is described in [recording.md](recording.md). A recording is read at any time, also while the
training runs: a torn last line and a missing `run.json` do not matter.

The first rank that takes steps gives the plain names, the series of the others get the suffix
`/rank<N>`. Each training of a script that trains several models one after the other is a run. What the
script printed is read as a text log, each value at the optimizer step it was printed at. What was recorded of
the training goes before what was printed of it (`printed/loss`); what was printed of validation goes
before what was observed (`observed/val/loss`). When no optimizer step was recorded, the printed text is
read as any text log.

Weights that differ between ranks, the end of the training and crashes become events; what could not be
measured, lines that were lost and a recording without an end are noted.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.core.nouns import Event
from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import jsons
from traindx.logs.lines import blocks
from traindx.logs.log import Log
from traindx.logs.log_file import File
from traindx.logs.tables import as_number, logs_from_table

if TYPE_CHECKING:
    from traindx.logs.recordings import RecordingPart
    from traindx.logs.run_facts import RunFacts

_RANK = re.compile(r"rank-(?P<rank>\d{1,6})\.jsonl")
# Next to the ranks: what the recorder wrote of the run, half a `run.json`, the request to stop, and the
# results of later experiments (`traindx confirm --save`), and what was measured of the data files.
_OTHER_FILES = re.compile(r"run\.json|\.run-\w+|stop(?:-at)?|confirmed\.json|data\.json")
_MARKS = (b'"recording"', b'"rows"', b'"names"', b'"sample"', b'"log"', b'"out"', b'"err"')


def claim(file: File) -> Claim | None:
    """A rank's file, or another file of its recording."""
    if _RANK.fullmatch(file.name):
        ours = Path(file.folder).parent.name == ".traindx" or b'"t"' in file.head[:4096] or _marked(file)
        return Claim(file.folder) if ours or (file.path.parent / "run.json").is_file() else None
    if _OTHER_FILES.fullmatch(file.name) and any(file.path.parent.glob("rank-*.jsonl*")):
        return Claim(file.folder, part=True)
    return None


def _marked(file: File) -> bool:
    return any(mark in file.head for mark in _MARKS)


def read(bundle: Bundle) -> list[Log]:
    """The ranks of one recording side by side; another training in its files is another log."""
    from traindx.logs.phases import printed_names
    from traindx.logs.rank_files import log_of_ranks
    from traindx.logs.recordings import parts_of
    from traindx.logs.run_facts import RunFacts, confirmed_of, data_facts_of, facts_of

    facts = next((facts_of(file) for file in bundle.files if file.name == "run.json"), RunFacts())
    for file in bundle.files:
        if file.name == "confirmed.json":
            facts.inside.update(confirmed_of(file))
        if file.name == "data.json":
            facts.inside.update(data_facts_of(file))
    files = {int(match["rank"]): file for file in bundle.files if (match := _RANK.fullmatch(file.name))}
    if not any(map(_marked, files.values())):
        return _version_one(files, facts)
    parts_by_rank = {rank: parts_of(file) for rank, file in files.items()}
    count = max(map(len, parts_by_rank.values()))
    logs: list[Log] = []
    for number in range(count):
        ranks: dict[int, RecordingPart] = {
            rank: parts[number] for rank, parts in parts_by_rank.items() if number < len(parts)
        }
        remaining = count - 1 - number
        logs += log_of_ranks(ranks, facts.of_part(remaining), bundle.run, last=not remaining)
    for earlier, later in pairwise(logs):
        # Settings are printed once, before the first.
        shared = {name: value for name, value in earlier.config.items() if name not in facts.settings}
        later.config = {**shared, **later.config}
    if len(logs) == count:
        for log, name in zip(logs, printed_names(parts_by_rank[min(parts_by_rank)]), strict=False):
            log.phase = name
    return logs


def _version_one(files: dict[int, File], facts: RunFacts) -> list[Log]:
    """Single rows and events, `t` in unix seconds; a restart in a file begins another log."""
    logs: list[Log] = []
    for rank, file in sorted(files.items()):
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
        log.config = dict(facts.config)
    return logs


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
    events = []
    for block in blocks(File(file.path, file.shown)):
        if b'"event"' not in block:
            continue
        for line in block.split(b"\n"):
            row = jsons.parse_line(line) if b'"event"' in line else None
            if row is not None and "event" in row:
                events.append(Event(str(row["event"]), str(row.get("text", "")), as_number(row.get("step"))))
    return events


READER = Reader("recording", "traindx recording", 10, claim, read)
