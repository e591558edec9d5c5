"""The model of a check: made by a function of a script, read from a file, or both put together."""

from __future__ import annotations

import os
import sys
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from traindx.checkup.model.objects import error_line, object_of
from traindx.checkup.target import CheckRequest, is_checkpoint, is_object
from traindx.checkup.weights.checkpoint import measured_checkpoint
from traindx.checkup.weights.formats import opened
from traindx.core import files
from traindx.core.nouns import Unreadable

_KERAS = (".keras", ".h5", ".hdf5")


@dataclass(frozen=True)
class LoadedModel:
    """A model with what was learned of its file; `images_last` where it takes the channels last."""

    model: Any
    facts: Mapping[str, Any] = field(default_factory=dict)
    images_last: bool = False


def model_of(request: CheckRequest) -> LoadedModel:
    """What the target names, with the weights of its file; raises Unreadable with one line."""
    target = request.targets[0]
    if len(request.targets) > 1:
        raise Unreadable(f"{target}: with --data give one model")
    if is_object(target):
        return LoadedModel(_module(target))
    if not os.path.exists(target):
        raise Unreadable(f"{target}: there is no such file or folder")
    if target.lower().endswith(_KERAS) and not request.model:
        return LoadedModel(_keras_model(target), images_last=True)
    kind = _program_kind(target)
    if kind:
        return LoadedModel(_program(target, kind, request.trust_code))
    if not is_checkpoint(target):
        raise Unreadable(f"{target}: with --data give a model: file.py:name, or a file of weights")
    if request.model:
        return _with_weights(_module(request.model), request)
    if request.trust_code:
        return LoadedModel(_pickled(target))
    opened(target)  # says why where it is a pickle that would run code
    raise Unreadable(
        f"{target} holds weights and no model: name the function that makes it, --model train.py:make_model"
    )


def _module(text: str) -> Any:
    import torch

    if not is_object(text):
        raise Unreadable(f"{text}: a model is named as file.py:name")
    model = object_of(text)
    if not isinstance(model, torch.nn.Module):
        raise Unreadable(f"{text} is a {type(model).__name__}, not a torch.nn.Module")
    return model


def _with_weights(model: Any, request: CheckRequest) -> LoadedModel:
    """The weights of a file in the model, as far as names and shapes agree; the facts say what does not."""
    checkpoint = opened(request.targets[0], trust_code=request.trust_code)
    stored = {tensor.name: tensor for tensor in checkpoint.tensors}
    model_state = model.state_dict()
    names = _names_in_file(list(model_state), list(stored))
    missing = [name for name in model_state if names[name] not in stored]
    unexpected = sorted(set(stored) - set(names.values()))
    other_shape = [
        f"{name} {tuple(value.shape)}, stored {stored[names[name]].shape}"
        for name, value in model_state.items()
        if names[name] in stored and tuple(value.shape) != stored[names[name]].shape
    ]
    import numpy as np
    import torch

    loaded = 0
    for name, value in model_state.items():
        stored_tensor = stored.get(names[name])
        if stored_tensor is not None and stored_tensor.shape == tuple(value.shape):
            with torch.no_grad():
                value.copy_(torch.from_numpy(np.array(stored_tensor.load())))
            loaded += 1
    if not loaded:
        raise Unreadable(
            f"{request.targets[0]}: none of its {len(stored)} tensors fits {request.model} (stored "
            f"{', '.join([*stored][:2])}; the model has {', '.join([*model_state][:2])})"
        )
    fit = {"missing": missing, "unexpected": unexpected, "other_shape": other_shape}
    facts = {
        **measured_checkpoint(checkpoint),
        "loading": {**fit, "loaded": loaded, "tensors": len(model_state)},
    }
    return LoadedModel(model, facts)


def _names_in_file(model_names: list[str], stored: list[str]) -> dict[str, str]:
    """How the file calls the tensors of a model: a wrapper puts something before every name."""
    if len(model_names) > 1 and not set(model_names) & set(stored):
        fronts = {name.partition(".")[0] for name in model_names}
        if len(fronts) == 1 and all("." in name for name in model_names):
            return {name: name.partition(".")[2] for name in model_names}
    return {name: name for name in model_names}


def _program_kind(path: str) -> str:
    """Whether a file holds the code of a model besides its weights: TorchScript, torch.export."""
    if path.lower().endswith(".pt2"):
        return "torch.export"
    try:
        with files.opened(path) as file, zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return ""
    return "TorchScript" if any("/code/" in name or name.endswith("constants.pkl") for name in names) else ""


def _program(path: str, kind: str, trust_code: bool) -> Any:
    import torch

    if not trust_code:
        raise Unreadable(
            f"{path} holds a program ({kind}), which would be run: it was not loaded. Give --trust-code if "
            "you trust its author"
        )

    def load() -> Any:
        if kind == "TorchScript":
            return torch.jit.load(path, map_location="cpu")  # type: ignore[no-untyped-call]
        return torch.export.load(path).module(check_guards=False)

    return _quietly(path, load)


def _pickled(path: str) -> Any:
    """A whole model that was saved with `torch.save(model)`; its classes are in this folder or the file's."""
    import torch

    folders = [os.getcwd(), os.path.dirname(os.path.abspath(path))]
    sys.path[:0] = folders
    try:
        loaded = _quietly(path, lambda: torch.load(path, map_location="cpu", weights_only=False))
    finally:
        del sys.path[: len(folders)]
    if isinstance(loaded, Mapping):
        loaded = next((value for value in loaded.values() if isinstance(value, torch.nn.Module)), loaded)
    if not isinstance(loaded, torch.nn.Module):
        raise Unreadable(f"{path} holds weights and no model: name one, --model train.py:make_model")
    return loaded


def _keras_model(path: str) -> Any:
    """A model of Keras on PyTorch, so that all is measured in the same way; no code of it is loaded."""
    import torch

    loaded = sys.modules.get("keras")
    if loaded is None:
        os.environ["KERAS_BACKEND"] = "torch"
        os.environ.setdefault(
            "TF_CPP_MIN_LOG_LEVEL", "3"
        )  # Keras reads .h5 with TensorFlow where it is there
    try:
        import keras
    except ImportError:
        raise Unreadable(f"{path}: reading it needs Keras: pip install keras") from None
    if keras.backend.backend() != "torch":
        raise Unreadable(f"{path}: set KERAS_BACKEND=torch before Keras is imported, to check its models")
    model = _quietly(path, lambda: keras.models.load_model(path, compile=False, safe_mode=True))
    if not isinstance(model, torch.nn.Module):
        raise Unreadable(f"{path} is no model of Keras that can be called")
    return model


def _quietly(path: str, load: Callable[[], Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error_line(error)}"
        if "arbitrary code" in str(error):
            reason = "it holds Python code (a Lambda layer), which is not run"
        raise Unreadable(f"{path} could not be loaded: {reason}") from None
