"""The Keras models of an arm, saved when its training is over."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FORMATS = (".keras", ".h5")


def save_models(folder: Path) -> list[str]:
    """Save every Keras model that has trained in this process; the names of the files.

    `.h5` cannot hold a subclassed model: such a one is saved as `.keras` only.
    """
    from traindx.observe.keras.install import trained_models

    with _h5py():
        return [
            path.name
            for number, model in enumerate(trained_models(), 1)
            for ending in FORMATS
            if _saved(model, path := folder / f"{'model' if number == 1 else f'model_{number}'}{ending}")
        ]


@contextlib.contextmanager
def _h5py() -> Iterator[None]:
    """h5py gives up its types when Python ends, which is before the end of a recording."""
    import h5py

    h5py._register_converters()
    try:
        yield
    finally:
        h5py._unregister_converters()


def _saved(model: Any, path: Path) -> bool:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            model.save(path)
    except Exception:
        path.unlink(missing_ok=True)
        return False
    return True
