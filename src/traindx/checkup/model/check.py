"""A model with data as a run: series of the layers over a few batches, facts of loss, samples and noise."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from traindx.checkup.model.objects import (
    LabelledBatch,
    batches_of,
    loss_of,
    loss_of_constant,
    loss_on,
    object_of,
)
from traindx.checkup.target import CheckRequest, checked, is_object
from traindx.core.nouns import Run, Series, Unreadable

_BATCHES = 8
_FIT_STEPS, _FIT_RATE = 150, 3e-3
_BEGIN_STEPS = 4
_DEAD_ROWS = 128  # fewer do not tell dead units from rare ones
_BEGUN = "layers start at exactly 0: measured on a copy after 4 small steps"
_AREAS = ("measured", "gradients", "layers", "data", "numerics", "model")
_MORE = "A few passes do not show whether a training goes well: record one (traindx run), or give its log."


def run(request: CheckRequest) -> Run:
    """What was measured of a model, as a file or as `file.py:make_model`, with the batches of `--data`."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise Unreadable("checking a model needs PyTorch: pip install torch") from None
    from traindx.checkup.model.loading import model_of

    loaded = model_of(request)
    data = request.data
    if isinstance(data, str) and is_object(data):
        data = object_of(data)
    return run_of_model(
        replace(request, data=data), loaded.model, loaded.facts, images_last=loaded.images_last
    )


def run_of_model(
    request: CheckRequest, model: Any, known: Mapping[str, Any] | None = None, *, images_last: bool = False
) -> Run:
    """The same for objects; `known` are facts of the file that the model comes from."""
    from traindx.checkup.model.unchanged import unchanged

    began = time.monotonic()
    with unchanged(model):
        data = _model_data(request, model, images_last)
        batches, loss_fn = data.batches, data.loss
        begun = _begun(model, batches, loss_fn)
        facts, series = _measured(begun or model, batches, loss_fn)
        if begun is not None:
            data = replace(data, chosen="; ".join(filter(None, (data.chosen, _BEGUN))))
        if request.overfit:
            facts["overfit"] = _overfitted(model, batches[0], loss_fn)
        if request.curvature:
            from traindx.checkup.curvature.measure import curvature

            facts["curvature"] = curvature(model, batches, loss_fn, lr=request.lr)
    for row in facts["hardest"] if data.rows is not None else ():
        row["index"] = int(data.rows[row["index"]])
    facts["loss_check"]["seconds"] = time.monotonic() - began
    parameters = sum(parameter.numel() for parameter in model.parameters())
    checked_run = checked(
        request,
        "model",
        {**(known or {}), **facts},
        areas=(*_AREAS, "weights") if known else _AREAS,
        subject="the model and its data",
        summary=f"{type(model).__name__}, {parameters:,} parameters; {len(batches)} batches of "
        f"{batches[0].rows:,} samples, loss {facts['loss_check']['loss']:.4g}",
        more=_MORE,
        chosen=data.chosen,
    )
    return replace(checked_run, series=series)


@dataclass(frozen=True)
class _Given:
    """Batches and loss; of a file also the numbers of its rows, and what in it was taken for what."""

    batches: list[LabelledBatch]
    loss: Any
    rows: Any = None
    chosen: str = ""


def _model_data(request: CheckRequest, model: Any, images_last: bool) -> _Given:
    from traindx.checkup.model.samples import is_sample_file, loss_in_shape, sample_batches, samples_of

    if not is_sample_file(request.data):
        loss = loss_of(request.loss)
        return _Given(batches_of(request.data, _BATCHES, model), loss)
    samples = samples_of(request.data, request.target_column, images_last=images_last)
    name = request.loss or ("cross_entropy" if samples.classes else "mse")
    if samples.target is None:
        raise Unreadable(f"{request.data}: {samples.chosen}. Name it by --target")
    embeds = any("embedding" in type(module).__name__.lower() for module in model.modules())
    batches, rows = sample_batches(samples, _BATCHES, loss=name, embeds=embeds)
    loss, chosen = loss_of(name), f"{samples.chosen}; loss {name}"
    assert loss is not None
    return _Given(batches, loss_in_shape(loss), rows, chosen)


def _begun(model: Any, batches: Sequence[LabelledBatch], loss_fn: Any) -> Any:
    """A copy after a few small steps where layers start at exactly 0, which block the first gradients.

    None where no layer does.
    """
    import torch

    matrices = [
        parameter for parameter in model.parameters() if parameter.requires_grad and parameter.dim() > 1
    ]
    if not any(int(matrix.count_nonzero()) == 0 for matrix in matrices):
        return None
    try:
        twin = copy.deepcopy(model).train()
    except Exception:  # not every model can be copied; it is then measured as it is
        return None
    optimizer = torch.optim.Adam(
        [parameter for parameter in twin.parameters() if parameter.requires_grad], lr=1e-3
    )
    for at in range(_BEGIN_STEPS):
        optimizer.zero_grad()
        loss_on(twin, batches[at % len(batches)], loss_fn)[1].backward()
        optimizer.step()
    return twin


def _measured(
    model: Any, batches: Sequence[LabelledBatch], loss_fn: Any
) -> tuple[dict[str, Any], dict[str, Series]]:
    from traindx.checkup.model.passes import (
        GradientSums,
        OutputHooks,
        by_class,
        hardest,
        loss_facts,
        sample_losses,
        sensitivity,
        set_mode,
    )

    set_mode(model, training=True)
    sums, losses, output = GradientSums(model), [], None
    with OutputHooks(model) as probe:
        for batch in batches:
            output, loss = loss_on(model, batch, loss_fn)
            if getattr(loss, "dim", lambda: 1)() or not getattr(loss, "requires_grad", False):
                raise Unreadable("the loss is no single number with a gradient: no gradient can be measured")
            sums.add(loss)
            losses.append(float(loss.detach()))
    activations = list(probe.rows())
    set_mode(model, training=False)
    samples = sample_losses(model, batches, loss_fn)
    rows, features = sums.rows(), sensitivity(model, batches[0], loss_fn)
    classes = _classes(output, batches[-1].target, loss_fn)
    facts: dict[str, Any] = {
        "gradients": rows,
        "activations": activations,
        "loss_check": {
            "loss": float(np.mean(losses)),
            "chance": math.log(classes) if classes > 1 else None,
            "constant": loss_of_constant(output, batches[-1], loss_fn),
            "classes": classes,
            "batch_size": batches[0].rows,
            "noise_scale": sums.noise_scale(batches[0].rows),
        },
        "by_class": by_class(samples),
        "hardest": hardest(samples),
        "features": sorted(features, key=lambda row: -row["share"])[:100],
        "models": [_model_facts(model)],
        "losses": [loss_facts(output, batches[-1].target, loss_fn)],
        "sampled": {"layer": _layers(sums.names), "activation": [row["name"] for row in activations]},
    }
    return facts, _series(sums, probe, batches)


def _model_facts(model: Any) -> dict[str, Any]:
    from traindx.observe.torch.model_facts import model_facts
    from traindx.observe.torch.naming import Names

    names = Names()
    names.saw(model)
    return model_facts(model, names)


def _layers(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(name.rpartition(".")[0] or name for name in names))


def _classes(output: Any, target: Any, loss_fn: Any) -> int:
    """How many classes the outputs choose among; 0 where the loss is no cross-entropy of classes."""
    name = getattr(loss_fn, "__name__", type(loss_fn).__name__).lower()
    fits = (
        hasattr(output, "shape")
        and len(output.shape) > 1
        and not getattr(target, "is_floating_point", bool)()
    )
    return int(output.shape[1]) if fits and ("cross" in name or "nll" in name) else 0


def _series(sums: Any, probe: Any, batches: Sequence[LabelledBatch]) -> dict[str, Series]:
    """One point for each batch, under the names that a recording gives them."""
    from traindx.observe.data.batches import Batches

    curves: dict[str, list[float]] = {"grad_norm": []}
    for norms in sums.norms:
        layers: dict[str, float] = {}
        for name, norm in zip(sums.names, norms, strict=True):
            layer = name.rpartition(".")[0] or name
            layers[layer] = layers.get(layer, 0.0) + (norm * norm if norm == norm else 0.0)
        for layer, square in layers.items():
            curves.setdefault(f"grad_norm/{layer}", []).append(math.sqrt(square))
        reached_norms = [norm for norm, reached in zip(norms, sums.reached, strict=True) if reached]
        curves["grad_norm"].append(math.sqrt(sum(norm * norm for norm in reached_norms)))
    for row, samples in zip(probe.rows(), probe.samples.values(), strict=True):
        for key, name in (
            ("mean", "mean"),
            ("std", "std"),
            ("zero_share", "zero_share"),
            ("flat_share", "saturated_share"),
        ):
            if key in samples[0]:
                curves[f"activation_{name}/{row['name']}"] = [sample[key] for sample in samples]
        if "dead_share" in row and sum(batch.rows for batch in batches) >= _DEAD_ROWS:
            curves[f"activation_dead_share/{row['name']}"] = [row["dead_share"]]
    data = Batches()
    for at, batch in enumerate(batches):
        first = batch.first
        for front, values in (
            ("input", data.input(first, at) if first is not None else {}),
            ("target", data.targets(batch.target) if hasattr(batch.target, "shape") else {}),
        ):
            for key, value in values.items():
                if isinstance(value, int | float):
                    curves.setdefault(f"{front}/{key}", []).append(float(value))
    return {
        name: Series(name, np.arange(len(values), dtype=np.float64), np.array(values, dtype=np.float64), name)
        for name, values in curves.items()
    }


def _overfitted(model: Any, batch: LabelledBatch, loss_fn: Any) -> dict[str, float]:
    """The loss of one batch before and after training a copy of the model on nothing else."""
    import torch

    twin = copy.deepcopy(model).train()
    for module in twin.modules():
        if "dropout" in type(module).__name__.lower():
            module.eval()
    optimizer = torch.optim.Adam(
        [parameter for parameter in twin.parameters() if parameter.requires_grad], lr=_FIT_RATE
    )
    losses = []
    for _ in range(_FIT_STEPS):
        loss = loss_on(twin, batch, loss_fn)[1]
        losses.append(float(loss.detach()))
        if not math.isfinite(losses[-1]) or losses[-1] < 0.02 * losses[0]:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {"before": losses[0], "after": min(losses), "steps": len(losses)}
