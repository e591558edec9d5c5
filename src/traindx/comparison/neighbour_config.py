"""Settings in a file next to the log: `config.json`, `.hydra/config.yaml`, or `run3.json` for run3.csv."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from traindx.core import files
from traindx.core.names import setting_name, settings
from traindx.core.nouns import Run, Scalar, Unreadable
from traindx.logs import jsons, yamls
from traindx.logs.assemble import flatten

_STEMS = ("config", "args", "params", "hparams", "hyperparameters", "hyperparams", "settings", "opt")
_ENDINGS = (".json", ".yaml", ".yml")
_LARGEST = 1_000_000


def settings_beside(runs: Sequence[Run]) -> list[dict[str, Scalar]]:
    """For each run the settings of a file in its folder; nothing where runs share the folder."""
    folders = [_folder(run) for run in runs]
    shared = Counter(folders)
    return [
        _config_beside(run, folder, alone=shared[folder] == 1) if folder is not None else {}
        for run, folder in zip(runs, folders, strict=True)
    ]


def _folder(run: Run) -> Path | None:
    if not run.files or run.path == "-":
        return None
    path = Path(run.path)
    return path if path.is_dir() else Path(run.files[0]).parent


def _config_beside(run: Run, folder: Path, *, alone: bool) -> dict[str, Scalar]:
    try:
        names = set(os.listdir(folder))
    except OSError:
        return {}
    log_stems = [Path(file).name.split(".")[0] for file in run.files[:1]]
    stems = [form for stem in log_stems for form in (stem, f"{stem}_config", f"{stem}.config")]
    candidates = [*stems, *(_STEMS if alone else ())]
    paths = [folder / (stem + end) for stem in candidates for end in _ENDINGS if stem + end in names]
    if alone and ".hydra" in names:
        paths.append(folder / ".hydra" / "config.yaml")
    read = {os.path.realpath(file) for file in run.files}
    for path in paths:
        if os.path.realpath(path) not in read and (config := _read(path)):
            values = settings(config)
            rest = {key: value for key, value in config.items() if setting_name(key) not in values}
            return {**rest, **values}
    return {}


def _read(path: Path) -> dict[str, Scalar]:
    """A table of settings; whatever else the file holds is none."""
    try:
        data = files.read(path, _LARGEST)
        document = jsons.load(data) if path.suffix == ".json" else yamls.load(data)
    except (OSError, Unreadable):
        return {}
    return dict(flatten(document)) if isinstance(document, dict) else {}
