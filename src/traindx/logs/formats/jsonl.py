"""JSON lines of any origin: one object per line, whatever the file is called.

Keys may differ from line to line; nested objects become names with `/`. Bare NaN and Infinity are
values, null is a gap. A column of words like `"split": "val"` gives the split of its rows. Torn
and foreign lines are skipped and counted. Lines whose objects have no step and no known metric
(data sets of prompts, for example) are not taken for a training.
"""

from __future__ import annotations

from traindx.core.nouns import Unreadable
from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import generic, jsons
from traindx.logs.log import Log
from traindx.logs.log_file import File


def claim(file: File) -> Claim | None:
    """Most of the first lines are objects, and their keys are those of a training."""
    rows = generic.head_rows(file)
    if rows is None or (len(rows) < 2 and not file.name.lower().endswith((".jsonl", ".ndjson"))):
        return None
    try:
        return Claim(file.shown) if generic.is_training(jsons.table_of(rows)) else None
    except Unreadable:
        return None


def read(bundle: Bundle) -> list[Log]:
    """All trainings in one file."""
    return generic.logs(jsons.read_table(bundle.files[0]))


READER = Reader("jsonl", "JSON lines", 70, claim, read)
