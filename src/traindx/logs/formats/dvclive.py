"""DVCLive: `dvclive/plots/metrics/**.tsv`, `metrics.json` and `params.yaml` as one run.

A metric's name is its path below `plots/metrics` (`train/loss.tsv` is `train/loss`), because the
column inside repeats only the last part. The step column may repeat its last step, a `timestamp`
column (ms) gives the time, and a file may hold nothing but steps. `metrics.json` holds the last
values: it adds what has no file of its own. `params.yaml` is the configuration. Copies whose path
was made part of the file name (`run__dvclive__plots__metrics__train__loss.tsv`) are read alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

import numpy as np

from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import csvs, jsons, yamls
from traindx.logs.log import Column, Log
from traindx.logs.log_file import File
from traindx.logs.tables import as_number

_FLAT = "__plots__metrics__"


def claim(file: File) -> Claim | None:
    """A TSV below `plots/metrics`, or a file next to `plots`."""
    parts = PurePath(file.folder).parts
    if file.name.endswith(".tsv"):
        for at in range(len(parts) - 1, 0, -1):
            if parts[at - 1 : at + 1] == ("plots", "metrics") and b"step" in file.head[:1000]:
                return Claim(str(PurePath(*parts[: at - 1])) if at > 1 else ".")
        if _FLAT in file.name and b"step" in file.head[:1000]:
            return Claim(str(PurePath(file.folder, file.name.partition(_FLAT)[0])))
    if file.name in ("metrics.json", "params.yaml") and (file.path.parent / "plots" / "metrics").is_dir():
        return Claim(file.folder, part=True)
    return None


def read(bundle: Bundle) -> Iterator[Log]:
    """All files of one DVCLive folder as one log."""
    log = Log([])
    for file in bundle.files:
        if file.name == "params.yaml":
            log.config.update(yamls.load(file.read(yamls.LIMIT_BYTES)))
        elif file.name.endswith(".tsv"):
            name = "/".join(_inside(file))[: -len(".tsv")]
            log.columns += _columns(file, name)
    for file in bundle.files:
        if file.name == "metrics.json":
            _add_last_values(file, log)
    yield log


def _inside(file: File) -> tuple[str, ...]:
    """The parts of the path below `plots/metrics`."""
    if _FLAT in file.name:
        return tuple(file.name.partition(_FLAT)[2].split("__"))
    parts = PurePath(file.folder, file.name).parts
    at = max(i for i in range(1, len(parts)) if parts[i - 1 : i + 1] == ("plots", "metrics"))
    return parts[at + 1 :]


def _columns(file: File, name: str) -> list[Column]:
    table = csvs.read_table(file)
    if "step" not in table.values:
        return []
    steps = np.where(table.has("step"), table.values["step"], np.nan)
    clock = table.values.get("timestamp")
    columns = []
    for title, values in table.values.items():
        there = table.has(title)
        if title not in ("step", "timestamp"):
            label = name if title == name.rpartition("/")[2] else f"{name}/{title}"
            times = None if clock is None else clock[there] / 1000
            columns.append(Column(label, steps[there], values[there], times))
    return columns


def _add_last_values(file: File, log: Log) -> None:
    last = jsons.load_object(file) or {}
    have = {column.name for column in log.columns}
    ends = [float(np.nanmax(c.steps)) for c in log.columns if np.isfinite(c.steps).any()]
    at = max(ends, default=as_number(last.get("step")) or 0.0)
    for name, value in jsons.flatten_row(last):
        number = as_number(value)
        if number is not None and name not in have and name != "step":
            log.columns.append(Column(name, np.array([at]), np.array([number])))


READER = Reader("dvclive", "DVCLive", 32, claim, read)
