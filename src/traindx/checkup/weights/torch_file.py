"""`.pt`, `.pth`, `.ckpt`, `.bin` of PyTorch: loaded with `weights_only=True`, which executes nothing."""

from __future__ import annotations

import os
import pickle
import re
import warnings
import zipfile
from typing import Any

from traindx.checkup.weights.state_parts import checkpoint_of
from traindx.checkup.weights.tensors import Checkpoint, error_line
from traindx.core import files
from traindx.core.nouns import Unreadable

_INFLATED_MOST = 4  # times the file itself: PyTorch stores without compression
_CODE = re.compile(r"(?:GLOBAL|class|global)[ :]+([\w.]+\.[\w.]+)")
_NO_TORCH = "reading it needs PyTorch: pip install torch"


def read(path: str, *, trust_code: bool = False) -> Checkpoint:
    """What the file holds."""
    return checkpoint_of(path, document(path, trust_code=trust_code))


def document(path: str, *, trust_code: bool = False) -> Any:
    """The object that was saved; raises Unreadable with one line."""
    try:
        import torch
    except ImportError:
        raise Unreadable(f"{path}: {_NO_TORCH}") from None
    _check_zip(path)
    try:
        with warnings.catch_warnings(), files.opened(path) as file:
            warnings.simplefilter("ignore")
            return torch.load(file, map_location="cpu", weights_only=True)
    except MemoryError:
        raise
    except Exception as error:
        code = _CODE.search(str(error))
        if not isinstance(error, pickle.UnpicklingError) or code is None:
            raise Unreadable(f"{path} is no checkpoint, or it is damaged: {error_line(error)}") from None
        if not trust_code:
            raise Unreadable(_refusal(path, code[1])) from None
    from traindx.checkup.weights.trusted import exported

    return exported(path)


def _check_zip(path: str) -> None:
    """Refuse a zip archive, as PyTorch writes since 1.6, that is damaged or none of PyTorch's."""
    try:
        with files.opened(path) as file:
            if file.read(4)[:2] != b"PK":
                return
            with zipfile.ZipFile(file) as archive:
                entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise Unreadable(f"{path} is damaged or cut off: {error_line(error)}") from None
    if sum(entry.file_size for entry in entries) > _INFLATED_MOST * os.path.getsize(path) + (1 << 20):
        raise Unreadable(f"{path} would unpack to many times its size: it is no checkpoint of PyTorch's")
    if not any(entry.filename.endswith("data.pkl") for entry in entries):
        raise Unreadable(f"{path} is a zip archive without data.pkl: no checkpoint of PyTorch's")


def _refusal(path: str, code: str) -> str:
    """What a pickle wants to run, and what to do instead."""
    return (
        f"{path} is a pickle that runs code when it is loaded ({code}): it was not loaded. Save "
        "model.state_dict() instead, or, if you trust its author, give --trust-code"
    )
