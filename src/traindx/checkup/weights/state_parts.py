"""What a saved object of PyTorch is: a state dict, or a training's model, optimizer and counters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from traindx.checkup.weights.tensors import Checkpoint, StoredOptimizer, StoredTensor
from traindx.core.nouns import Unreadable

_COUNTERS = {"epoch": "epoch", "epochs": "epoch", "step": "step", "global_step": "step", "iteration": "step",
             "iter": "step", "it": "step", "steps": "step"}  # fmt: skip
_DEPTH_MOST = 12


def checkpoint_of(path: str, saved: Any) -> Checkpoint:
    """The parts of what was saved; raises Unreadable where no tensor is in it."""
    if _is_tensor(saved):
        saved = {"tensor": saved}
    if not isinstance(saved, Mapping):
        saved = {"items": list(saved)} if isinstance(saved, list | tuple) else {}
    optimizers = [state for value in saved.values() for state in _optimizers(value)]
    counters = {
        _COUNTERS[key]: float(value)
        for key, value in saved.items()
        if key in _COUNTERS and isinstance(value, int | float) and not isinstance(value, bool)
    }
    weights = {key: value for key, value in saved.items() if not _other_state(key, value)}
    tensors = list(_tensors(weights))
    if not tensors:
        raise Unreadable(f"{path} holds no tensor that could be a weight")
    parts = ["model", *(["optimizer"] if optimizers else [])]
    parts += (
        ["scheduler"] if any("sched" in str(key).lower() and value for key, value in saved.items()) else []
    )
    training = bool(counters or optimizers) or any("sched" in str(key).lower() for key in saved)
    return Checkpoint(
        path,
        "PyTorch",
        _without_front(tensors),
        optimizers=tuple(map(_stored, optimizers)),
        counters=counters,
        parts=(*parts, *(["training"] if training else [])),
        files=(path,),
    )


def _other_state(key: Any, value: Any) -> bool:
    """Whether an entry is none of the model's: optimizers, schedules, scalers, random states."""
    name = str(key).lower()
    words = ("sched", "scaler", "rng", "random_state", "callbacks", "loops", "hyper", "config", "args")
    return next(_optimizers(value), None) is not None or any(word in name for word in words)


def _optimizers(value: Any) -> Iterator[Mapping[str, Any]]:
    """The optimizer states in an entry: one, or a list of them."""
    if isinstance(value, Mapping) and isinstance(value.get("param_groups"), list) and "state" in value:
        yield value
    elif isinstance(value, list | tuple):
        for item in value[:16]:
            yield from _optimizers(item) if isinstance(item, Mapping) else ()


def _tensors(value: Any, front: str = "", depth: int = 0) -> Iterator[StoredTensor]:
    if _is_tensor(value):
        yield _stored_tensor(front, value)
    elif depth < _DEPTH_MOST and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _tensors(item, f"{front}.{key}" if front else str(key), depth + 1)
    elif depth < _DEPTH_MOST and isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _tensors(item, f"{front}.{number}" if front else str(number), depth + 1)


def _stored_tensor(name: str, tensor: Any) -> StoredTensor:
    try:
        storage = f"{tensor.untyped_storage().data_ptr()}:{tensor.storage_offset()}:{tuple(tensor.shape)}"
    except (RuntimeError, NotImplementedError):  # meta and sparse tensors have none
        storage = ""
    dtype = str(tensor.dtype).removeprefix("torch.")
    return StoredTensor(name, tuple(tensor.shape), dtype, partial(values_of, tensor), storage)


def values_of(tensor: Any) -> Any:
    """As NumPy's; what NumPy has no type for as float32."""
    import torch

    dense = tensor.detach()
    dense = dense.to_dense() if dense.layout != torch.strided else dense
    if dense.is_quantized:
        dense = dense.dequantize()
    if dense.is_complex():
        dense = torch.view_as_real(dense)
    numpy_dtypes = (torch.float32, torch.float64, torch.float16, torch.int64, torch.int32, torch.bool)
    return (dense if dense.dtype in numpy_dtypes else dense.float()).numpy()


def _stored(state: Mapping[str, Any]) -> StoredOptimizer:
    """The tensors of an optimizer by name and parameter, and how many steps it took."""
    entries = state["state"] if isinstance(state["state"], Mapping) else {}
    groups = [dict(group) for group in state["param_groups"] if isinstance(group, Mapping)]
    steps = [entry["step"] for entry in entries.values() if isinstance(entry, Mapping) and "step" in entry]
    parameter_count = sum(len(group.get("params", ())) for group in groups)
    settings = tuple({key: value for key, value in group.items() if key != "params"} for group in groups)
    return StoredOptimizer(
        settings, list(_moments(entries)), tuple(float(step) for step in steps), parameter_count
    )


def _moments(entries: Mapping[Any, Any]) -> Iterator[StoredTensor]:
    for parameter, entry in entries.items():
        for name, value in entry.items() if isinstance(entry, Mapping) else ():
            if _is_tensor(value) and name != "step":
                yield _stored_tensor(f"{name}/{parameter}", value)


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "numpy") and hasattr(value, "shape")


def _without_front(tensors: list[StoredTensor]) -> list[StoredTensor]:
    """Names without what all of them begin with: `state_dict.`, `model.`, `module.`."""
    from dataclasses import replace

    while len(tensors) > 1 and all("." in tensor.name for tensor in tensors):
        fronts = {tensor.name.partition(".")[0] for tensor in tensors}
        if len(fronts) > 1 or fronts.pop().isdigit():
            break
        tensors = [replace(tensor, name=tensor.name.partition(".")[2]) for tensor in tensors]
    return tensors
