"""LLaMA-Factory: `trainer_log.jsonl`, one object per logged step.

`current_steps` is the step; `total_steps` goes into the configuration. The learning rate is called
`learning_rate` in old files and `lr` in new ones; nulls of old files are gaps; evaluation rows are
between the training rows; the last row has no loss. `elapsed_time` is text (`6 days, 15:04:12`) and
becomes seconds; `remaining_time` and `percentage` say nothing that the step does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import jsons, yamls
from traindx.logs.log import Log
from traindx.logs.log_file import File
from traindx.logs.tables import logs_from_table

TRAINER_LOG = "trainer_log.jsonl"
_CONFIGS = ("training_args.yaml", "llamaboard_config.yaml")
_FIRST = re.compile(rb'\s*\{[^\n]{0,400}"current_steps"\s*:[^\n]{0,400}"total_steps"\s*:')
_SPAN = re.compile(r"(?:(?P<days>\d+) days?, )?(?P<h>\d+):(?P<m>\d{2}):(?P<s>\d{2}(?:\.\d+)?)")
_LEFT_OUT = {"remaining_time", "percentage", "total_steps"}


def claim(file: File) -> Claim | None:
    """Lines that count `current_steps` of `total_steps`; settings only next to such a file."""
    if file.name in _CONFIGS:
        return Claim(file.folder, part=True) if (file.path.parent / TRAINER_LOG).is_file() else None
    if not _FIRST.match(file.head[:4096]):
        return None
    return Claim(file.folder if file.name == TRAINER_LOG else file.shown)


def read(bundle: Bundle) -> Iterator[Log]:
    """The trainings in one trainer log."""
    config = yamls.load_files(bundle.files, _CONFIGS)
    for file in bundle.files:
        if file.name not in _CONFIGS:
            rows = jsons.read_rows(file)
            totals = [row["total_steps"] for row in rows if row.get("total_steps") is not None]
            if totals:
                config["total_steps"] = totals[-1]
            table = jsons.table_of([_numbers(row) for row in rows])
            yield from logs_from_table(table, step="current_steps", config=config)


def _numbers(row: jsons.Row) -> jsons.Row:
    """A row without what is no metric, its time as seconds."""
    metrics = {key: value for key, value in row.items() if key not in _LEFT_OUT}
    if isinstance(span := metrics.get("elapsed_time"), str):
        metrics["elapsed_time"] = seconds(span)
    return metrics


def seconds(text: str) -> float | None:
    """`6 days, 15:04:12` in seconds."""
    match = _SPAN.fullmatch(text.strip())
    if not match or len(text) > 40:
        return None
    return int(match["days"] or 0) * 86400 + int(match["h"]) * 3600 + int(match["m"]) * 60 + float(match["s"])


READER = Reader("llamafactory", "LLaMA-Factory trainer log", 21, claim, read)
