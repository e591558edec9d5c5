"""A pickle whose author is trusted: a process of its own loads it and writes its tensors to a plain file."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

from traindx.core.nouns import Unreadable

_TIME_MOST = 600
# A whole model becomes its state dict; other objects keep what is plain data.
_EXPORT = """
import sys, torch
source, target = sys.argv[1:]
sys.path.insert(0, "")
saved = torch.load(source, map_location="cpu", weights_only=False)
def plain(value, depth=0):
    if isinstance(value, torch.nn.Module):
        return dict(value.state_dict())
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, dict) and depth < 12:
        return {str(k) if not isinstance(k, (int, str)) else k: plain(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)) and depth < 12:
        return [plain(one, depth + 1) for one in value]
    return value if isinstance(value, (int, float, str, bool, type(None))) else repr(type(value))
torch.save(plain(saved), target)
"""


def exported(path: str) -> Any:
    """The tensors and plain values of a pickle; raises Unreadable with the last line of its error."""
    import torch

    with tempfile.TemporaryDirectory(prefix="traindx-check-") as folder:
        target = os.path.join(folder, "plain.pt")
        command = [sys.executable, "-c", _EXPORT, os.path.abspath(path), target]
        try:
            process = subprocess.run(command, capture_output=True, text=True, timeout=_TIME_MOST, check=False)
        except subprocess.TimeoutExpired:
            raise Unreadable(f"{path} was not loaded within {_TIME_MOST // 60} minutes") from None
        if process.returncode:
            last = next(
                (line for line in reversed(process.stderr.splitlines()) if line.strip()), "it gave no reason"
            )
            raise Unreadable(f"{path} could not be loaded: {last.strip()[:200]}")
        return torch.load(target, map_location="cpu", weights_only=True)
