"""Whether a tensor is flat, one number per sample, or a column, one row of one number per sample."""

from __future__ import annotations

import ast
from typing import Literal

from traindx.source.attributes import lookup
from traindx.source.roles import is_module
from traindx.source.values import (
    Const,
    DictValue,
    Function,
    Instance,
    ListValue,
    Made,
    Value,
    number,
    options,
)

Form = Literal["flat", "column", ""]
_DEEP = 40
_SAME = frozenset(
    """
    float double to cuda cpu type astype contiguous clone detach numpy copy relu sigmoid tanh exp softplus abs
    pow sqrt log clamp tensor as_tensor from_numpy asarray array FloatTensor Tensor sin cos log1p expm1
    elu gelu silu leaky_relu ascontiguousarray float32 float64 dropout
    requires_grad_ pin_memory square
    """.split()
)
_STREAMED = frozenset("shuffle batch prefetch repeat cache take".split())
_PLAIN_LAYERS = frozenset("ReLU Sigmoid Tanh Softplus Dropout Identity GELU SiLU ELU LeakyReLU".split())
_RANDOM = frozenset("randn rand zeros ones empty full randint normal uniform standard_normal random".split())
_LINES = frozenset("linspace arange logspace".split())
_FLATTENS = frozenset("ravel flatten".split())
_REDUCES = frozenset("sum mean norm argmax prod std var".split())


def form(value: Value | None, depth: int = _DEEP) -> Form:
    """The form of a tensor where the source shows it; empty when it does not."""
    ways = options(value)
    if not ways or depth <= 0:
        return ""
    if len(ways) > 1:
        forms = {form(way, depth - 1) for way in ways}
        return forms.pop() if len(forms) == 1 else ""
    return _form(ways[0], depth - 1)


def _form(value: Value, depth: int) -> Form:
    if not isinstance(value, Made):
        return ""
    if value.kind == "apply":
        return _of_layer(value, depth)
    if value.kind == "item":
        return _of_item(value, depth)
    if value.kind == "operator":
        return _of_operator(value, depth)
    if value.kind == "attribute":
        return _of_attribute(value, depth)
    return _of_call(value, depth)


def _of_layer(value: Made, depth: int) -> Form:
    layer = value.receiver
    if isinstance(layer, Made) and layer.name == "keras.layers.Dense":
        return "column" if number(layer.argument(0, "units")) == 1 else ""
    if not isinstance(layer, Made) or not is_module(layer) or not value.args:
        return ""
    if layer.short == "Linear":
        return "column" if number(layer.argument(1, "out_features")) == 1 else ""
    return form(value.args[0], depth) if layer.short in _PLAIN_LAYERS else ""


def _of_operator(value: Made, depth: int) -> Form:
    if value.name == "MatMult":
        return form(value.args[1], depth)
    forms = [form(arg, depth) for arg in value.args if not isinstance(arg, Const)]
    return forms[0] if forms and all(kind == forms[0] for kind in forms) else ""


def _of_attribute(value: Made, depth: int) -> Form:
    if value.name in ("values", "data"):
        return form(value.receiver, depth)
    loaded = value.receiver
    data = isinstance(loaded, Made) and loaded.name.startswith("sklearn.datasets.")
    return "flat" if value.name == "target" and data else ""


def _of_call(value: Made, depth: int) -> Form:
    name = value.short
    first = value.receiver if value.kind == "method" else (value.args[0] if value.args else None)
    args = value.args if value.kind == "method" else value.args[1:]
    if name in _FLATTENS and not args and not value.keywords:
        return "flat"
    if name in ("squeeze", "unsqueeze"):
        dim = number(args[0] if args else value.keywords.get("dim", value.keywords.get("axis")))
        if name == "unsqueeze":
            return "column" if dim in (1, -1) and form(first, depth) == "flat" else ""
        return "flat" if dim in (1, -1, None) and form(first, depth) in ("column", "flat") else ""
    if name in ("view", "reshape"):
        return _reshaped([number(size) for size in _sizes(args)])
    if name in _RANDOM:
        return _drawn(value, name)
    if name in _LINES:
        return "flat"
    if name in _REDUCES:
        return _reduced(value, args) if rank(first) in (2, None) else ""
    if name in ("to_numpy", "tolist"):
        return form(first, depth)
    return form(first, depth) if name in _SAME else ""


def rank(value: Value | None, depth: int = _DEEP) -> int | None:
    """The number of axes of a tensor whose making the source shows; None when it does not."""
    ways = options(value)
    if len(ways) != 1 or depth <= 0 or not isinstance(ways[0], Made):
        return None
    call = ways[0]
    if call.kind == "operator" and call.name != "MatMult":
        ranks = [rank(arg, depth - 1) for arg in call.args if not isinstance(arg, Const)]
        return max((axes for axes in ranks if axes is not None), default=None)
    if call.kind in ("call", "method") and call.short in _RANDOM:
        sizes = _sizes(_given_sizes(call, call.short))
        return len(sizes) if sizes and all(_is_count(size) for size in sizes) else None
    first = call.receiver if call.kind == "method" else (call.args[0] if call.args else None)
    return rank(first, depth - 1) if call.short in _SAME else None


def _sizes(args: list[Value]) -> list[Value]:
    single = args[0] if len(args) == 1 else None
    return list(single.items) if isinstance(single, ListValue) else list(args)


def _reshaped(sizes: list[float | None]) -> Form:
    if len(sizes) == 1 and sizes[0] == -1:
        return "flat"
    return "column" if len(sizes) == 2 and sizes[1] == 1 else ""


def _drawn(value: Made, name: str) -> Form:
    """Numbers drawn or filled: `randn(n)`, `normal(size=(n, 1))`."""
    sizes = _sizes(_given_sizes(value, name))
    if len(sizes) == 1 and not isinstance(sizes[0], ListValue | DictValue) and _is_count(sizes[0]):
        return "flat"
    return "column" if len(sizes) == 2 and number(sizes[1]) == 1 else ""


def _given_sizes(value: Made, name: str) -> list[Value]:
    size = value.keywords.get("size", value.keywords.get("shape"))
    plain = name in ("randn", "rand", "zeros", "ones", "empty")
    if name == "full":
        return value.args[:1]
    return [size] if size is not None else list(value.args) if plain else []


def _is_count(value: Value) -> bool:
    """Whether a size is surely one number, not a shape."""
    computed = isinstance(value, Made) and (value.name == "len" or value.kind == "operator")
    return number(value) is not None or computed


def _reduced(value: Made, args: list[Value]) -> Form:
    dim = args[0] if args else value.keywords.get("dim", value.keywords.get("axis"))
    keepdim = value.keywords.get("keepdim", value.keywords.get("keepdims"))
    if number(dim) not in (1, -1):
        return ""
    if keepdim is None:
        return "flat" if number(dim) == 1 else ""
    return "column" if isinstance(keepdim, Const) and keepdim.value is True else ""


def _of_item(value: Made, depth: int) -> Form:
    of, node = value.receiver, value.spot.node if value.spot is not None else None
    if value.name == "each":
        return ""
    key = value.args[0] if value.args else None
    place = int(key.value) if isinstance(key, Const) and isinstance(key.value, int) else None
    if place is not None and place >= 0 and isinstance(of, Made):
        return _of_piece(of, place, depth)
    if isinstance(key, Const) and isinstance(key.value, str):
        return "flat" if _is_frame(of) else ""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        return _of_axes(node.slice.elts, form(of, depth)) if rank(of) in (2, 1, None) else ""
    whole = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice | ast.Name | ast.Compare)
    return form(of, depth) if whole else ""


def _is_frame(value: Value | None) -> bool:
    return isinstance(value, Made) and value.name.startswith("pandas.")


def _of_axes(axes: list[ast.expr], before: Form) -> Form:
    """`x[:, 0]`, `y[:, None]`."""
    if len(axes) != 2 or not isinstance(axes[0], ast.Slice):
        return ""
    last = ast.unparse(axes[1])
    if last == "None" or last.endswith("newaxis"):
        return "column" if before == "flat" else ""
    return "flat" if last.lstrip("-").isdigit() else ""


def _of_piece(of: Made, place: int, depth: int) -> Form:
    """The piece of a pair: of a batch of a loader, of a split, of a data set of scikit-learn."""
    if of.kind == "item" and of.name == "each":
        return _of_batch(of.receiver, place, depth)
    if of.kind == "call" and of.short == "train_test_split":
        return form(of.args[place // 2], depth) if place // 2 < len(of.args) and not of.open else ""
    if of.kind == "call" and of.name.startswith("sklearn.datasets."):
        return "flat" if place == 1 and (of.short.startswith("make_") or "return_X_y" in of.keywords) else ""
    return ""


def _of_stream(stream: Value | None, place: int, depth: int) -> Form:
    """A batch of a pipeline of tf.data that is made of arrays."""
    for _ in range(6):
        if not (isinstance(stream, Made) and stream.kind == "method" and stream.name in _STREAMED):
            break
        stream = stream.receiver
    if not isinstance(stream, Made) or stream.name != "tensorflow.data.Dataset.from_tensor_slices":
        return ""
    arrays = stream.argument(0, "tensors")
    return (
        form(arrays.items[place], depth)
        if isinstance(arrays, ListValue) and place < len(arrays.items)
        else ""
    )


def _of_batch(loader: Value | None, place: int, depth: int) -> Form:
    if isinstance(loader, Made) and loader.kind == "method":
        return _of_stream(loader, place, depth)
    if not isinstance(loader, Made) or loader.kind != "call" or not loader.short.endswith("DataLoader"):
        return ""
    if "collate_fn" in loader.keywords or loader.open:
        return ""
    return _of_dataset(loader.argument(0, "dataset"), place, depth)


def _of_dataset(data: Value | None, place: int, depth: int) -> Form:
    """Each sample is an element of a tensor, and a batch stacks them: the form stays."""
    for _ in range(3):
        if not isinstance(data, Made):
            break
        split = data.kind == "item" and isinstance(data.receiver, Made)
        if split and isinstance(data.receiver, Made) and data.receiver.short == "random_split":
            data = data.receiver.args[0] if data.receiver.args else None
        elif data.short == "Subset":
            data = data.args[0] if data.args else None
    if isinstance(data, Made) and data.short == "TensorDataset" and place < len(data.args) and not data.open:
        return form(data.args[place], depth)
    return _of_own_dataset(data, place, depth) if isinstance(data, Instance) else ""


def _of_own_dataset(data: Instance, place: int, depth: int) -> Form:
    """`return self.x[i], self.y[i]` of the script's own class."""
    getter = lookup(data.cls, "__getitem__")
    if getter is None or not isinstance(getter[0], Function) or isinstance(getter[0].node, ast.Lambda):
        return ""
    returned = [node for node in ast.walk(getter[0].node) if isinstance(node, ast.Return)]
    pair = returned[0].value if len(returned) == 1 else None
    if not isinstance(pair, ast.Tuple) or place >= len(pair.elts) or len(getter[0].node.body) > 2:
        return ""
    piece = pair.elts[place]
    base = piece.value if isinstance(piece, ast.Subscript) and isinstance(piece.slice, ast.Name) else None
    if not isinstance(base, ast.Attribute) or not isinstance(base.value, ast.Name) or base.value.id != "self":
        return ""
    return form(data.attributes.get(base.attr), depth)
