"""The shape of a tensor as far as the source tells: how many dimensions, and how wide the last one is."""

from __future__ import annotations

from dataclasses import dataclass

from traindx.script.roles import operation
from traindx.script.values import Const, Either, Items, Made, Unknown, Value, number

_MAKERS = frozenset("randn rand zeros ones empty standard_normal".split())
_SAME = frozenset(
    """
    float double long half to cuda cpu detach clone contiguous relu sigmoid tanh gelu silu elu
    leaky_relu dropout Dropout BatchNorm1d LayerNorm exp sin cos abs sqrt square clamp softplus astype
    round sign requires_grad_ softmax log_softmax copy type as_tensor tensor from_numpy asarray array
    """.split()
)
_REDUCING = frozenset("sum mean prod argmax norm std var amax amin".split())
_SIZED = frozenset({"normal", "uniform", "randint"})


@dataclass(frozen=True)
class Shape:
    """`rank` and `last` are None where they are not known."""

    rank: int | None = None
    last: float | None = None


UNKNOWN = Shape()


def shape(value: Value | None, depth: int = 40) -> Shape:
    """What is known of a tensor's shape."""
    if depth == 0 or value is None:
        return UNKNOWN
    if isinstance(value, Const) and not isinstance(value.value, str):
        return Shape(0)
    if isinstance(value, Either):
        found = {shape(one, depth - 1) for one in value.options}
        return found.pop() if len(found) == 1 else UNKNOWN
    if not isinstance(value, Made):
        return UNKNOWN
    if value.kind == "apply":
        return _applied(value, depth)
    if value.kind == "item":
        return _item(value, depth)
    if value.kind == "operator":
        return _operated(value, depth)
    return _called(value, depth)


def _applied(made: Made, depth: int) -> Shape:
    """A layer's output."""
    inner = shape(made.args[0], depth - 1) if made.args else UNKNOWN
    name = operation(made)
    if name == "Linear" and isinstance(made.receiver, Made):
        return Shape(inner.rank, number(made.receiver.argument(1, "out_features")))
    if name == "flatten":
        return Shape(2)
    return inner if name in _SAME else UNKNOWN


def _called(made: Made, depth: int) -> Shape:
    name = made.short if made.kind == "call" else made.name
    library = made.kind == "method" or made.name.startswith(("torch.", "numpy."))
    if not library:
        return UNKNOWN
    sized = made.keywords.get("size")
    if made.kind == "call" and (name in _MAKERS or name in _SIZED):
        return _made(made, sized, name)
    if made.kind == "call" and name in ("linspace", "arange", "randperm"):
        return Shape(1)
    given = made.receiver if made.kind == "method" else (made.args[0] if made.args else None)
    rest = made.args if made.kind == "method" else made.args[1:]
    inner = shape(given, depth - 1)
    if name in _SAME:
        return inner
    return _reshaped(name, inner, rest, made)


def _made(made: Made, sized: Value | None, name: str) -> Shape:
    """A tensor made by its sizes."""
    if name in _SIZED:
        sized = sized or (made.args[2] if len(made.args) > 2 else None)
        sizes = sized.items if isinstance(sized, Items) and not sized.open else None
    else:
        first = made.args[0] if made.args else sized
        whole = isinstance(first, Items) and len(made.args) <= 1
        sizes = first.items if whole and isinstance(first, Items) and not first.open else made.args
    if made.open or not sizes:
        return UNKNOWN
    return Shape(len(sizes), number(sizes[-1]))


def _reshaped(name: str, inner: Shape, rest: list[Value], made: Made) -> Shape:
    """Views and reductions."""
    at = number(made.keywords.get("dim") or made.keywords.get("axis") or (rest[0] if rest else None))
    if name in ("view", "reshape"):
        sizes = rest[0].items if len(rest) == 1 and isinstance(rest[0], Items) else rest
        return Shape(len(sizes), number(sizes[-1])) if sizes else UNKNOWN
    if name in ("flatten", "ravel"):
        return Shape(1) if not rest and not made.keywords else UNKNOWN
    if inner.rank is None and inner.last is None:
        return UNKNOWN
    if name == "unsqueeze":
        end = at == -1 or (inner.rank is not None and at == inner.rank)
        return Shape(None if inner.rank is None else inner.rank + 1, 1.0 if end else inner.last)
    if name == "squeeze":
        ends = at is None or at == -1 or at == (inner.rank or 2) - 1
        if inner.last != 1 or not ends:
            return inner if inner.last is not None and inner.last != 1 else UNKNOWN
        return Shape((inner.rank or 2) - 1)
    if name in _REDUCING and inner.rank is not None:
        kept = "keepdim" in made.keywords or "keepdims" in made.keywords or len(rest) > 1
        if at is None:
            return Shape(0) if not rest and not made.keywords else UNKNOWN
        end = at in (-1, inner.rank - 1)
        return Shape(inner.rank, 1.0 if end else inner.last) if kept else Shape(inner.rank - 1)
    return UNKNOWN


def _item(made: Made, depth: int) -> Shape:
    """A part of a tensor, or of what a loader gives."""
    source = made.receiver
    batch = isinstance(source, Made) and source.kind == "item" and source.name == "each"
    key = made.args[0] if made.args else None
    if batch and isinstance(source, Made) and isinstance(key, Const) and isinstance(key.value, int):
        return _of_loader(source.receiver, key.value, depth)
    inner = shape(source, depth - 1)
    if inner.rank is None or made.name == "each":
        return UNKNOWN
    keys = key.items if isinstance(key, Items) else [key]
    taken = sum(isinstance(one, Const) and isinstance(one.value, int) for one in keys)
    added = sum(isinstance(one, Const) and one.value is None for one in keys)
    if added:
        return UNKNOWN
    whole = len(keys) < inner.rank or isinstance(keys[-1], Unknown)
    slices = all(isinstance(one, Const | Unknown) for one in keys)
    width = inner.last if len(keys) < inner.rank and taken == 0 else None
    return Shape(inner.rank - taken, width) if slices or (whole and len(keys) == 1) else UNKNOWN


def _of_loader(loader: Value | None, place: int, depth: int) -> Shape:
    """What a loader over tensors gives at a place of its batches."""
    if not isinstance(loader, Made) or loader.short != "DataLoader" or "collate_fn" in loader.keywords:
        return UNKNOWN
    data = loader.argument(0, "dataset")
    if isinstance(data, Made) and data.short == "TensorDataset" and place < len(data.args):
        return shape(data.args[place], depth - 1)
    return UNKNOWN


def _operated(made: Made, depth: int) -> Shape:
    """Arithmetic and comparisons, element by element."""
    shapes = [shape(one, depth - 1) for one in made.args]
    if made.name == "MatMult" and len(shapes) == 2:
        left, right = shapes
        if left.rank is None or right.rank not in (1, 2):
            return UNKNOWN
        return Shape(left.rank - 1) if right.rank == 1 else Shape(left.rank, right.last)
    if not shapes or any(one.rank is None for one in shapes):
        return UNKNOWN
    highest = max(shapes, key=lambda one: one.rank or 0)
    alike = [one.last for one in shapes if one.rank]
    return Shape(highest.rank, highest.last if len(alike) == 1 or len(set(alike)) == 1 else None)
