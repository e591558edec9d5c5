"""What a forward pass keeps for its backward pass, and what memory is left."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from traindx.experiment.runtime.torch.measuring.model import RepeatableCall
from traindx.experiment.runtime.torch.tensors import tensors_in
from traindx.observe.torch.places.models import mapped

if TYPE_CHECKING:
    from traindx.experiment.runtime.torch.measuring.first_step import FirstStep


def measured(first: FirstStep) -> dict[str, Any]:
    """Free and total memory of the device; bytes kept for the batch and for half of it."""
    numbers: dict[str, Any] = {}
    device = next(
        (parameter.device for model_call in first.models for parameter in model_call.root.parameters()),
        torch.device("cpu"),
    )
    numbers["device"] = device.type
    with contextlib.suppress(OSError, ValueError, KeyError):
        numbers["free"], numbers["total"] = _free(device)
    try:
        model = first.model
        rows = next(tensor.shape[0] for _, tensor in tensors_in(model.args) if tensor.dim())
        numbers |= {"batch": rows, "kept": _bytes_kept(model, rows)}
        if rows >= 4:
            numbers |= {"half": rows // 2, "kept_half": _bytes_kept(model, rows // 2, rows)}
    except Exception as error:
        numbers["kept_why"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return numbers


def _free(device: torch.device) -> tuple[int, int]:
    if device.type == "cuda":
        free, total = torch.cuda.mem_get_info(device)
        return int(free), int(total)
    return _of_system()


def _of_system() -> tuple[int, int]:
    """What Linux says is available, or what the group of processes may have if that is less."""
    numbers = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    free, total = (1024 * int(numbers[key].split()[0]) for key in ("MemAvailable", "MemTotal"))
    with contextlib.suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        if limit < total:
            return min(free, limit - int((group / "memory.current").read_text())), limit
    return free, total


def _bytes_kept(model: RepeatableCall, rows: int, all_rows: int | None = None) -> int:
    """Bytes of all tensors saved for backward, parameters aside."""
    parameter_storages = {parameter.untyped_storage().data_ptr() for parameter in model.root.parameters()}
    bytes_by_storage: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameter_storages:
            bytes_by_storage[storage.data_ptr()] = storage.nbytes()
        return tensor

    def part(name: str, tensor: torch.Tensor) -> torch.Tensor:
        del name
        return (
            tensor[:rows].clone()
            if all_rows is not None and tensor.dim() and tensor.shape[0] == all_rows
            else tensor
        )

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = model.again(mapped(model.args, "", part), training=True)
    del output
    return sum(bytes_by_storage.values())
