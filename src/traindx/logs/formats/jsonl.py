"""JSON lines of any origin: one object per line, whatever the file is called.

Keys may differ from line to line; nested objects become names with `/`. Bare NaN and Infinity are
values, null is a gap. A column of words like `"split": "val"` gives the split of its rows. Torn
and foreign lines are skipped and counted. Lines whose objects have no step and no known metric
(data sets of prompts, for example) are not taken for a training. A first line that holds the settings, as
an object (`{"config": {"lr": 3e-4}}`) or as values that no later line has, is read as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from traindx.core import names
from traindx.core.nouns import Unreadable
from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import generic, jsons
from traindx.logs.log import Log
from traindx.logs.log_file import File

_SETTINGS = ("config", "args", "hparams", "hyperparameters", "settings")


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
    file = bundle.files[0]
    table = jsons.read_table(file)
    settings: dict[str, object] = {}
    first, *later = generic.head_rows(file) or [{}]
    for key in _only_in(first, later):
        value = first[key]
        settings |= value if key.lower() in _SETTINGS and isinstance(value, Mapping) else {key: value}
        for name in [name for name in table.values if name == key or name.startswith(f"{key}/")]:
            del table.values[name]
    return generic.logs(table, config=settings)


def _only_in(first: Mapping[str, object], later: Sequence[Mapping[str, object]]) -> list[str]:
    """The keys of settings in the first line: those named so, and where the later lines count something that
    the first does not, those that no later line has."""
    setting_keys = [
        key for key, value in first.items() if key.lower() in _SETTINGS and isinstance(value, Mapping)
    ]
    later_keys = set().union(*later)
    counters = [key for key in later_keys if key not in first and names.counter_rank(key) is not None]
    if setting_keys or not later or not counters:
        return setting_keys
    return [key for key, value in first.items() if key not in later_keys and not isinstance(value, list)]


READER = Reader("jsonl", "JSON lines", 70, claim, read)
