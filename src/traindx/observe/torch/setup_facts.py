"""What is recorded once of a training: optimizer, settings, data loaders, schedulers, libraries, seed."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import (
    DataLoader,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

from traindx.observe.torch.naming import Names
from traindx.observe.torch.roots import optimizer_parameters, parameter_ids

_NAMED = 200
_GROUPS = 64
_LIBRARIES = (
    "torch",
    "numpy",
    "torchvision",
    "torchaudio",
    "lightning",
    "pytorch_lightning",
    "transformers",
    "accelerate",
    "timm",
    "peft",
    "trl",
    "datasets",
    "deepspeed",
    "apex",
    "bitsandbytes",
    "torchmetrics",
    "sklearn",
    "wandb",
    "tensorboard",
    "mlflow",
)
_STREAMS = (np.random.Generator, np.random.RandomState, random.Random, torch.Generator)
_DEFAULT_SEED = 67280421310721
# An embedding that large holds words; a smaller one does if the model has as many outputs.
_WORDS, _FEW_WORDS = 1000, 16


def optimizer_facts(
    optimizer: torch.optim.Optimizer,
    optimizers: Iterable[torch.optim.Optimizer],
    roots: Iterable[nn.Module],
    names: Names,
) -> dict[str, Any]:
    """An optimizer with its groups, and the trainable parameters of the models that no optimizer holds."""
    parameters = optimizer_parameters(optimizer)
    in_any_optimizer = parameter_ids(*optimizers, optimizer)
    free: dict[int, str] = {}
    for root in roots:
        for parameter in root.parameters():
            if parameter.requires_grad and id(parameter) not in in_any_optimizer:
                free[id(parameter)] = names.parameter_name(parameter)
    return {
        "class": type(optimizer).__name__,
        "groups": [_group(group) for group in optimizer.param_groups[:_GROUPS]],
        "parameters": len(parameters),
        "elements": sum(parameter.numel() for parameter in parameters),
        "not_held": list(free.values())[:_NAMED],
        "frozen": [
            names.parameter_name(parameter) for parameter in parameters if not parameter.requires_grad
        ][:_NAMED],
        "held_twice": [names.parameter_name(parameter) for parameter in _twice(parameters)][:_NAMED],
    }


def _twice(parameters: list[torch.Tensor]) -> list[torch.Tensor]:
    seen_ids: set[int] = set()
    return [parameter for parameter in parameters if id(parameter) in seen_ids or seen_ids.add(id(parameter))]  # type: ignore[func-returns-value]


def _group(group: Mapping[str, Any]) -> dict[str, Any]:
    facts = {key: _plain(value) for key, value in group.items() if key != "params"}
    facts = {key: value for key, value in facts.items() if value is not None}
    return facts | {
        "parameters": len(group["params"]),
        "elements": sum(parameter.numel() for parameter in group["params"]),
    }


def _plain(value: Any) -> Any:
    """A number, word, or short list of them; None for anything else."""
    if isinstance(value, torch.Tensor):
        return value.item() if value.numel() == 1 and not value.is_meta else None
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list) and len(value) <= 16:
        inner = [_plain(item) for item in value]
        return inner if all(item is not None for item in inner) else None
    return None


def settings_of(models: Sequence[Mapping[str, Any]], optimizer: Mapping[str, Any]) -> dict[str, Any]:
    """Settings under their canonical names, as far as they are certain."""
    settings: dict[str, Any] = {"optimizer": optimizer["class"]}
    groups = optimizer["groups"]
    if groups:
        settings |= _of_groups(groups)
    if models:
        settings["model"] = " + ".join(model["class"] for model in models)
        settings["model_parameters"] = sum(model["parameters"] for model in models)
        settings["trainable_parameters"] = sum(model["trainable"] for model in models)
    if len(models) == 1:
        settings |= _of_model(models[0])
    return settings


def _of_groups(groups: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first = groups[0]
    settings = {
        key: first[key] for key in ("lr", "momentum", "eps") if isinstance(first.get(key), int | float)
    }
    decays = [group["weight_decay"] for group in groups if isinstance(group.get("weight_decay"), int | float)]
    if decays:  # biases and norms are often left out of it
        settings["weight_decay"] = max(decays)
    betas = first.get("betas")
    if isinstance(betas, list) and len(betas) >= 2:
        settings |= {"beta1": betas[0], "beta2": betas[1]}
    return settings


def _of_model(model: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    layers = model["blocks"] if model["attention"] and model["blocks"] > 1 else model["layers"]
    if layers:
        settings["layers"] = layers
    rates = [rate for rate in model["dropout"] if rate > 0]
    if len(rates) == 1 or (model["dropout"] and not rates):
        settings["dropout"] = rates[0] if rates else 0.0
    words = max(model["embeddings"], key=lambda embedding: embedding["size"], default=None)
    if words is not None:
        size, reads = words["size"], model["attention"] or model["recurrent"]
        if (reads and size >= _WORDS) or (size > _FEW_WORDS and size == model["output_width"]):
            settings |= {"vocab_size": size, "width": words["width"]}
    return settings


def loader_facts(loader: DataLoader[Any]) -> dict[str, Any]:
    """The settings of a loader. Lengths are asked for only where asking changes nothing."""
    sampler, dataset = loader.sampler, loader.dataset
    facts: dict[str, Any] = {
        "batch_size": loader.batch_size or getattr(loader.batch_sampler, "batch_size", None),
        "workers": loader.num_workers,
        "shuffle": None,
        "sampler": type(sampler).__name__,
        "drop_last": loader.drop_last,
        "pin_memory": bool(loader.pin_memory),
        "persistent_workers": bool(loader.persistent_workers),
        "dataset": type(dataset).__name__,
        "samples": None,
        "batches": None,
        "own_random": _random_streams(dataset) if loader.num_workers else [],
        "worker_init": loader.worker_init_fn is not None,
    }
    if isinstance(dataset, IterableDataset):
        return facts
    facts["shuffle"] = _shuffles(loader.batch_sampler if loader.batch_size is None else sampler)
    try:
        facts["samples"] = len(dataset)  # type: ignore[arg-type]
        facts["batches"] = len(loader)
    except Exception:  # code of the user's, which need not answer
        pass
    return facts


def _random_streams(dataset: Any) -> list[str]:
    """Generators that a dataset keeps: every worker process gets a copy, and all draw the same numbers."""
    streams = []
    for name, value in list(getattr(dataset, "__dict__", {}).items())[:200]:
        inner = getattr(value, "__dict__", {})
        streams += [name] if isinstance(value, _STREAMS) else []
        streams += [f"{name}.{key}" for key, item in list(inner.items())[:50] if isinstance(item, _STREAMS)]
    return streams[:_NAMED]


def _shuffles(sampler: Any) -> bool | None:
    if isinstance(sampler, RandomSampler | SubsetRandomSampler | WeightedRandomSampler):
        return True
    if isinstance(sampler, SequentialSampler):
        return False
    shuffle = getattr(sampler, "shuffle", None)
    return shuffle if isinstance(shuffle, bool) else None


def scheduler_facts(scheduler: Any) -> dict[str, Any]:
    """A scheduler by its class and its own numbers."""
    facts: dict[str, Any] = {"class": type(scheduler).__name__}
    for key, value in vars(scheduler).items():
        if key.startswith("_") or key in ("optimizer", "lr_lambdas"):
            continue
        plain_value = (
            sorted(value.elements()) if key == "milestones" and hasattr(value, "elements") else value
        )
        fact = _plain(plain_value)
        if fact is not None:
            facts[key] = fact
    return facts


def library_facts() -> dict[str, Any]:
    """Versions of what is loaded, and the switches that change how torch computes."""
    facts: dict[str, Any] = {}
    for name in _LIBRARIES:
        module = sys.modules.get(name)
        attributes = vars(module) if module is not None else {}
        lazy = attributes.get("_objects")  # what a lazy module of transformers holds
        version = attributes.get("__version__") or (
            lazy.get("__version__") if isinstance(lazy, dict) else None
        )
        if version is not None:
            facts[name] = str(version)
    facts["cuda"] = torch.version.cuda
    facts["threads"] = torch.get_num_threads()
    facts["deterministic"] = torch.are_deterministic_algorithms_enabled()
    facts["cudnn_benchmark"] = bool(torch.backends.cudnn.benchmark)
    facts["float32_matmul"] = torch.get_float32_matmul_precision()
    return facts


def seed_facts() -> dict[str, Any]:
    """The seed of torch's random numbers, and whether somebody set it."""
    seed = torch.initial_seed()
    return {"torch": seed, "set": seed != _DEFAULT_SEED}
