"""The models of a training as a recording knows them: parameters, depth, kinds of layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from traindx.core.facts import Fact, facts, number, word
from traindx.core.nouns import Run
from traindx.report.document import Cell, DocumentTable, Section, Span, TableColumn
from traindx.report.text import count, first_names, rounded

_MODELS_MOST = 4
_NAMES_MOST = 8


@dataclass(frozen=True)
class Architecture:
    """One model. Kinds of layers are by how many there are; `depth` counts the layers with weights."""

    name: str
    parameters: int
    trainable: int | None
    depth: int | None
    normalisation: Mapping[str, int] | None
    dropout: tuple[float, ...] | None
    activations: Mapping[str, int] | None
    training_samples: int | None

    @property
    def per_sample(self) -> float | None:
        """Parameters per training sample."""
        return self.parameters / self.training_samples if self.training_samples else None

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "parameters_per_sample": self.per_sample}


def architectures(run: Run) -> list[Architecture]:
    """The models of a run, the largest first; for a log, the model that its settings describe, if any."""
    samples = _training_samples(run)
    models = [
        architecture
        for model in facts(run.facts.get("models"))
        if (architecture := _model(model, samples)) is not None
    ]
    if not models and (parameters := _whole(run.settings, "model_parameters")):
        own = _whole(run.settings, "trainable_parameters"), _whole(run.settings, "layers")
        name = str(run.settings.get("model") or "model")
        models = [Architecture(name, parameters, *own, None, None, None, samples)]
    return sorted(models, key=lambda model: -model.parameters)[:_MODELS_MOST]


def _model(model: Fact, samples: int | None) -> Architecture | None:
    parameters = _whole(model, "parameters")
    if parameters is None:
        return None
    listed = model.get("dropout")
    rates = [rate for rate in listed if isinstance(rate, int | float)] if isinstance(listed, list) else None
    return Architecture(
        word(model, "class") or "model",
        parameters,
        _whole(model, "trainable"),
        _whole(model, "layers"),
        _kinds(model, "normalisation"),
        None if rates is None else tuple(map(float, rates)),
        _kinds(model, "activations"),
        samples,
    )


def _kinds(model: Fact, key: str) -> dict[str, int] | None:
    kinds = model.get(key)
    if not isinstance(kinds, Mapping):
        return None
    return {str(name): how_many for name in kinds if (how_many := _whole(kinds, name)) is not None}


def _training_samples(run: Run) -> int | None:
    loaders = [loader for loader in facts(run.facts.get("loaders")) if loader.get("role") == "training"]
    sizes = [size for loader in loaders if (size := _whole(loader, "samples"))]
    return max(sizes, default=None) or _whole(run.settings, "train_samples")


def _whole(fact: Mapping[str, Any], key: str) -> int | None:
    value = number(fact, key)
    return int(value) if value is not None and value >= 0 else None


def architecture_section(run: Run) -> list[Section]:
    """A table of each model; none when nothing is known."""
    models = architectures(run)
    columns = (TableColumn(""), *(TableColumn("", wrap=True) for _ in models))
    facts_of_models = [dict(_rows(model)) for model in models]
    rows: list[tuple[Cell, ...]] = []
    for name in dict.fromkeys(name for model_facts in facts_of_models for name in model_facts):
        rows.append((name, *(Span(model_facts.get(name, "")) for model_facts in facts_of_models)))
    table = DocumentTable(columns, tuple(rows), look="facts")
    return [Section("Architecture", (table,), "card")] if rows else []


def architecture_sentence(model: Architecture) -> str:
    """`Tower: 25,569 parameters, all trainable; 26 layers with weights; normalisation: none; ...`."""
    rows = dict(_rows(model))
    name, size = rows.pop("model"), rows.pop("parameters")
    depth = rows.pop("depth", "")
    rest = [f"{label}: {text}" for label, text in rows.items()]
    return "; ".join([f"{name}: {size}", *([depth] if depth else []), *rest])


def _rows(model: Architecture) -> list[tuple[str, str]]:
    rows = [("model", model.name), ("parameters", _parameters(model))]
    if model.depth is not None:
        rows.append(("depth", count(model.depth, "layer with weights", "layers with weights")))
    if model.normalisation is not None:
        rows.append(("normalisation", _kind_counts(model.normalisation)))
    if model.dropout is not None:
        shares = dict.fromkeys(f"{rate:g}" for rate in model.dropout)
        rows.append(("dropout", ", ".join(list(shares)[:_NAMES_MOST]) or "none"))
    if model.activations is not None:
        rows.append(("activations", _kind_counts(model.activations, "none that is a layer of its own")))
    if model.per_sample is not None:
        ratio = f"{rounded(model.per_sample, 3)} ({model.training_samples:,} training samples)"
        rows.append(("parameters per training sample", ratio))
    return rows


def _parameters(model: Architecture) -> str:
    size = count(model.parameters, "parameter")
    if model.trainable is None:
        return size
    return f"{size}, {'all' if model.trainable == model.parameters else f'{model.trainable:,}'} trainable"


def _kind_counts(kinds: Mapping[str, int], nothing: str = "none") -> str:
    """`ReLU (25), Sigmoid`; none where there is none."""
    texts = [f"{name} ({how_many:,})" if how_many > 1 else name for name, how_many in kinds.items()]
    return first_names(texts, _NAMES_MOST) or nothing
