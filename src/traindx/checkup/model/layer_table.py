"""`traindx.gradients` and `traindx.activations`: one row for each parameter or layer, and what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_COLUMNS = ("norm", "mean", "std", "min", "max", "zero_share")
_VANISHED, _EXPLODED, _FADED = 1e-7, 100.0, 1e-3
_DEAD, _FLAT = 0.5, 0.5


@dataclass(frozen=True)
class LayerTable:
    """Rows with the numbers of each layer; `problems` are sentences, the worst first."""

    what: str
    rows: tuple[dict[str, Any], ...]
    problems: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"what": self.what, "rows": [dict(row) for row in self.rows], "problems": list(self.problems)}

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __str__(self) -> str:
        from traindx.core.number_text import short

        columns = [
            name for name in (*_COLUMNS, "dead_share", "flat_share") if any(name in row for row in self.rows)
        ]
        cells = [[self.what, *columns]]
        cells += [
            [
                row["name"],
                *(
                    "" if row.get(column) is None else short(float(f"{row[column]:.3g}"))
                    for column in columns
                ),
            ]
            for row in self.rows
        ]
        widths = [max(len(line[at]) for line in cells) for at in range(len(columns) + 1)]
        lines = [
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in cells
        ]
        return "\n".join([*lines, *self.problems])

    def plot(self, path: str) -> None:
        """A picture of the sizes from input to output."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 0.25 * len(self.rows) + 1.5), layout="constrained")
        axes = figure.subplots()
        key = "norm" if any("norm" in row for row in self.rows) else "std"
        sizes = [row.get(key) or 0.0 for row in self.rows]
        axes.barh(range(len(sizes)), sizes)
        axes.set_yticks(range(len(sizes)), [row["name"] for row in self.rows])
        axes.invert_yaxis()
        axes.set_xscale("log" if max(sizes, default=0) > 0 else "linear")
        axes.set_title(f"{key} of {self.what}, from input to output")
        figure.savefig(path, dpi=110)


def gradients(model: Any, loader: Any = None, loss_fn: Callable[[Any, Any], Any] | None = None) -> LayerTable:
    """The gradients of a model's parameters: those of the last backward pass, or of one batch of a loader.

    With a loader the model is as before afterwards.
    """
    from traindx.checkup.model.keras_layers import named_parameters
    from traindx.checkup.model.objects import batches_of, loss_on
    from traindx.checkup.model.unchanged import unchanged
    from traindx.core.nouns import Unreadable

    parameters = named_parameters(model)
    if loader is None:
        grads = [parameter.grad for _, parameter in parameters]
        if all(gradient is None for gradient in grads):
            raise ValueError(
                "no parameter has a gradient: call it after backward(), or give a loader and a loss."
            )
    else:
        import torch

        try:
            batch = batches_of(loader, 1, model)[0]
            with unchanged(model):
                loss = loss_on(model, batch, loss_fn)[1]
                grads = list(
                    torch.autograd.grad(loss, [parameter for _, parameter in parameters], allow_unused=True)
                )
        except Unreadable as error:
            raise ValueError(str(error)) from None
    tables = _lookup_tables(model)
    rows = tuple(
        gradient_row(name, gradient, units=id(parameter) not in tables)
        for (name, parameter), gradient in zip(parameters, grads, strict=True)
    )
    return LayerTable("gradients", rows, tuple(_gradient_problems(rows)))


def _lookup_tables(model: Any) -> set[int]:
    """Embeddings: their rows are entries rather than units, and a batch uses only some."""
    return {
        id(parameter)
        for module in model.modules()
        if "embedding" in type(module).__name__.lower()
        for parameter in module.parameters(recurse=False)
    }


def gradient_row(name: str, gradient: Any, *, units: bool = True) -> dict[str, Any]:
    """Size and spread of one gradient; a parameter without one has a row without numbers.

    `dead_share` is the share of the units of a matrix whose whole gradient is 0.
    """
    if gradient is None:
        return {"name": name}
    row = {"name": name, **tensor_row(gradient)}
    if units and gradient.dim() > 1 and gradient.numel():
        reached = gradient.detach().flatten(1).ne(0).any(1)
        row["dead_share"] = 1.0 - float(reached.float().mean())
    return row


def tensor_row(tensor: Any) -> dict[str, Any]:
    values = tensor.detach().float()
    finite = bool(values.isfinite().all())
    low, high = (float(value) for value in values.aminmax()) if values.numel() else (0.0, 0.0)
    return {
        "norm": float(values.norm()),
        "mean": float(values.mean()),
        "std": float(values.std(unbiased=False)),
        "min": low,
        "max": high,
        "zero_share": float((values == 0).float().mean()),
        "finite": finite,
    }


def _gradient_problems(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    broken = [row["name"] for row in rows if row.get("finite") is False]
    absent = [row["name"] for row in rows if "norm" not in row]
    zero = [row["name"] for row in rows if row.get("norm") == 0]
    large = [row["name"] for row in rows if row.get("norm", 0) > _EXPLODED and row["finite"]]
    dead = [row["name"] for row in rows if _DEAD <= row.get("dead_share", 0) < 1]
    norms = [row["norm"] for row in rows if row.get("finite") and row["norm"] > 0]
    matrices = [row["norm"] for row in rows if row.get("finite") and row["norm"] > 0 and "dead_share" in row]
    if broken:
        yield f"Error: NaN or Inf in the gradients of {_names(broken)}. Check loss, inputs and learning rate."
    if absent:
        yield f"Error: no gradient reaches {_names(absent)}. Look for detach(), no_grad() or unused layers."
    if zero:
        yield f"Warning: the gradients of {_names(zero)} are exactly 0. Look for dead units or a cut graph."
    if dead:
        yield f"Warning: no gradient for half of the units of {_names(dead)} or more. Look for dead units."
    if large:
        yield f"Warning: the gradients of {_names(large)} exceed {_EXPLODED:g}. Clip them, or lower the rate."
    if norms and max(norms) < _VANISHED:
        yield f"Warning: all gradients are below {_VANISHED:g}. They vanish, or the model is at rest."
    # A bias in front of a batch norm gets nothing, wherever it is.
    third = max(1, len(matrices) // 3)
    ratio = min(matrices[:third]) / max(matrices[-third:]) if len(matrices) > 2 else 1.0
    if ratio < _FADED:
        yield f"Warning: early layers get {ratio:.1e} of the gradient of late ones. Add skips or norms."


def activations(model: Any, batch: Any) -> LayerTable:
    """What each layer gives for a batch: spread, zeros, dead and saturated units. The model is as before."""
    import torch

    from traindx.checkup.model.objects import LabelledBatch, batch_of
    from traindx.checkup.model.passes import OutputHooks
    from traindx.checkup.model.unchanged import unchanged

    labelled: LabelledBatch = batch_of(batch, model)
    with unchanged(model), torch.no_grad(), OutputHooks(model) as probe:
        model(*labelled.arguments, **labelled.keywords)
    rows = tuple(probe.rows())
    return LayerTable("activations", rows, tuple(_activation_problems(rows)))


def _activation_problems(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    broken = [row["name"] for row in rows if not math.isfinite(row["std"])]
    dead = [row["name"] for row in rows if (row.get("dead_share") or 0) >= _DEAD]
    flat = [row["name"] for row in rows if (row.get("flat_share") or 0) >= _FLAT]
    if broken:
        yield f"Error: NaN or Inf comes out of {_names(broken)}."
    if dead:
        yield f"Warning: half of the units of {_names(dead)} or more give 0 for every sample of the batch."
    if flat:
        yield f"Warning: half of the outputs of {_names(flat)} or more are saturated: little gradient passes."
    spreads = [row["std"] for row in rows if math.isfinite(row["std"]) and row["std"] > 0]
    if len(spreads) > 3 and not 1e-4 < spreads[-1] / spreads[0] < 1e4:
        change = spreads[-1] / spreads[0]
        yield f"Warning: the spread of the signal changes by {change:.1e} from input to output."


def _names(names: Sequence[str]) -> str:
    more_text = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more_text
