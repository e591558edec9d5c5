"""Lightning's CSVLogger: `metrics.csv` with the `hparams.yaml` next to it; a `version_N` folder is a run.

Rows are sparse: training, validation and learning-rate rows have the cells of the others empty, an
`lr-Adam` row has no epoch. `*_step` and `*_epoch` columns, columns in any order and columns with odd
names are kept as they are; a literal `nan` is a value, an empty cell is none.

Many programs write a `metrics.csv`: without the columns `step` and `epoch` (or a `version_N` folder,
for Fabric) it is left to the general CSV reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import csvs, yamls
from traindx.logs.layouts import header
from traindx.logs.log import Log
from traindx.logs.log_file import File
from traindx.logs.tables import logs_from_table

METRICS = "metrics.csv"
_HPARAMS = "hparams.yaml"
_VERSION = re.compile(r"version_\d+")


def claim(file: File) -> Claim | None:
    """A `metrics.csv` with step and epoch; hyperparameters only next to such a file."""
    if file.name == _HPARAMS:
        has_metrics = (file.path.parent / METRICS).is_file() or (file.path.parent / f"{METRICS}.gz").is_file()
        return Claim(file.folder, part=True) if has_metrics else None
    if not file.name.endswith(METRICS):
        return None
    columns = header(file)
    versioned = _VERSION.fullmatch(PurePath(file.folder).name) is not None
    if "step" not in columns or not ("epoch" in columns or versioned) or len(columns) < 2:
        return None
    return Claim(file.folder if file.name == METRICS else file.shown)


def read(bundle: Bundle) -> Iterator[Log]:
    """The metrics of one version folder with its hyperparameters."""
    config = yamls.load_files(bundle.files, (_HPARAMS,))
    for file in bundle.files:
        if file.name != _HPARAMS:
            yield from logs_from_table(csvs.read_table(file), step="step", config=config)


READER = Reader("lightning", "Lightning CSVLogger", 30, claim, read)
