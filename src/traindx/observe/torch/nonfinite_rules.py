"""How an operation makes NaN or inf out of finite numbers.

A rule looks at what one node saved and says in plain words what happened, or None when the values do not show
that this operation did it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from traindx.observe.torch.finite import kind, readable
from traindx.observe.torch.graph import setting
from traindx.observe.torch.operations import NonfiniteCause, Scene, largest, plain

Rule = Callable[[Scene], NonfiniteCause | None]


def cause(scene: Scene) -> NonfiniteCause | None:
    """Why this operation made something non-finite, if what it saved shows it."""
    rule = _RULES.get(scene.name)
    return rule(scene) if rule else None


def _at_or_below(words: str, limit: float = 0.0) -> Rule:
    """A function that is infinite at `limit` and undefined below."""

    def rule(scene: Scene) -> NonfiniteCause | None:
        low = scene.ends("self")[0]
        if low == limit:
            return NonfiniteCause(f"{words} of {limit:g}", scene.saved["self"])
        if low < limit:
            below = "a negative number" if limit == 0 else f"a number below {limit:g}"
            return NonfiniteCause(f"{words} of {below}", scene.saved["self"])
        return None

    return rule


def _outside(words: str, low: float, high: float, *, closed: bool = False) -> Rule:
    """A function that is only defined between two numbers; at them too, unless `closed`."""

    def rule(scene: Scene) -> NonfiniteCause | None:
        minimum, maximum = scene.ends("self")
        out = (minimum <= low or maximum >= high) if closed else (minimum < low or maximum > high)
        span = f"above {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        return NonfiniteCause(f"{words} of a number that is not {span}", scene.saved["self"]) if out else None

    return rule


def _result(inf: str = "", nan: str = "", name: str = "result") -> Rule:
    """An operation that keeps only its result, which shows what went in."""

    def rule(scene: Scene) -> NonfiniteCause | None:
        result = scene.saved.get(name)
        words = {"nan": nan, "inf": inf, "-inf": inf}.get(kind(result) or "") if result is not None else ""
        return NonfiniteCause(words, result, "result") if words else None

    return rule


def _hyperbolic(scene: Scene) -> NonfiniteCause | None:
    """sinh and cosh grow like exp(x) / 2."""
    values = scene.saved.get("self")
    if values is None or not values.is_floating_point():
        return None
    over = largest(values) > math.log(torch.finfo(values.dtype).max) + math.log(2)
    return NonfiniteCause(f"{plain(scene.node)} overflow", values) if over else None


def _division(scene: Scene) -> NonfiniteCause | None:
    below = _values(scene, "other")
    if below is None or not bool((below == 0).any()):
        return None
    above = _values(scene, "self")
    zero_by_zero = above is not None and bool(((above == 0) & (below == 0)).any())
    return NonfiniteCause("division of 0 by 0" if zero_by_zero else "division by 0", scene.saved["other"])


def _power(scene: Scene) -> NonfiniteCause | None:
    base = _values(scene, "self")
    exponent = _values(scene, "exponent")
    if exponent is None:
        number = scene.number("exponent")
        exponent = torch.tensor(number) if number is not None else None
    if base is None or exponent is None:
        return None
    exponent = exponent.to(base.device)
    if bool(((base < 0) & (exponent != exponent.round())).any()):
        return NonfiniteCause("broken power of a negative number", scene.saved["self"])
    if bool(((base == 0) & (exponent < 0)).any()):
        return NonfiniteCause("negative power of 0", scene.saved["self"])
    return None


def _product(scene: Scene) -> NonfiniteCause | None:
    left, right = _values(scene, "self"), _values(scene, "other")
    if left is None or right is None:
        return None
    meets = ((left == 0) & torch.isinf(right)) | ((right == 0) & torch.isinf(left))
    return NonfiniteCause("0 * inf", scene.saved["other"]) if bool(meets.any()) else None


def _mean(scene: Scene) -> NonfiniteCause | None:
    sizes = setting(scene.node, "self_sym_sizes")
    empty = scene.number("self_sym_numel") == 0 or (isinstance(sizes, tuple) and 0 in sizes)
    return NonfiniteCause("mean of nothing (an empty selection)") if empty else None


def _spread(scene: Scene) -> NonfiniteCause | None:
    values, result = scene.saved.get("self"), scene.saved.get("result")
    correction = scene.number("correction")
    if values is None:
        return None
    groups = result.numel() if result is not None else max(1, values.numel() // _group(scene, values))
    group_size = values.numel() / max(1, groups)
    is_single = group_size <= (1.0 if correction is None else correction)
    return NonfiniteCause(f"{plain(scene.node)} of a single value", values) if is_single else None


def _group(scene: Scene, values: torch.Tensor) -> int:
    dims = setting(scene.node, "dim")
    if not isinstance(dims, tuple):
        return max(1, values.numel())
    return math.prod(values.shape[_signed(dim)] for dim in dims) or 1


def _signed(dim: int) -> int:
    """Saved dimensions are unsigned: -1 comes back as 2**64 - 1."""
    return dim - (1 << 64) if dim >= 1 << 63 else dim


def _normalisation(scene: Scene) -> NonfiniteCause | None:
    """Batch, layer and group norm keep one over the deviation."""
    inverse = scene.saved.get("result2")
    if inverse is None or kind(inverse) != "inf":
        return None
    eps = scene.number("eps")
    words = f" and eps {eps:g}" if eps is not None else ""
    return NonfiniteCause(
        f"{plain(scene.node)} of values without any variance{words}", scene.saved.get("input")
    )


def _likelihood(scene: Scene) -> NonfiniteCause | None:
    weight = _values(scene, "total_weight")
    logs = scene.saved.get("self")
    if weight is not None and float(weight) == 0:
        return NonfiniteCause("mean loss over no targets (all of them are ignored or weigh 0)", logs)
    if scene.output == "inf" and logs is not None and kind(logs) == "-inf":
        return NonfiniteCause("negative log likelihood of a class that is masked with -inf", logs)
    return None


def masked_row(scene: Scene) -> NonfiniteCause | None:
    """Finite numbers never make a softmax fail, but a row with nothing but -inf does."""
    result = _values(scene, "result")
    if scene.name not in ("Softmax", "LogSoftmax") or result is None or scene.output != "nan":
        return None
    dim = setting(scene.node, "dim")
    rows = torch.isnan(result).all(dim=_signed(dim) if isinstance(dim, int) else -1)
    share = f"{int(rows.sum())} of {rows.numel()} rows"
    return NonfiniteCause(
        f"{plain(scene.node)} over a row with nothing but -inf, all of it masked ({share})", result, "result"
    )


def _values(scene: Scene, name: str) -> torch.Tensor | None:
    return readable(scene.saved[name]) if name in scene.saved else None


_RULES: dict[str, Rule] = {
    "Log": _at_or_below("log"),
    "Log2": _at_or_below("log"),
    "Log10": _at_or_below("log"),
    "Log1P": _at_or_below("log1p", -1.0),
    "Lgamma": _at_or_below("lgamma"),
    "Digamma": _at_or_below("digamma"),
    "Logit": _outside("logit", 0.0, 1.0, closed=True),
    "Acos": _outside("acos", -1.0, 1.0),
    "Asin": _outside("asin", -1.0, 1.0),
    "Acosh": _outside("acosh", 1.0, math.inf),
    "Atanh": _outside("atanh", -1.0, 1.0, closed=True),
    "Erfinv": _outside("erfinv", -1.0, 1.0, closed=True),
    "Logsumexp": _result(inf="logsumexp over a row with nothing but -inf, or of inf"),
    "Sqrt": _result(nan="sqrt of a negative number"),
    "Rsqrt": _result(inf="1 / sqrt of 0", nan="1 / sqrt of a negative number"),
    "Reciprocal": _result(inf="division by 0 (1 / x)"),
    "Exp": _result(inf="exp overflow"),
    "Exp2": _result(inf="exp2 overflow"),
    "Expm1": _result(inf="expm1 overflow"),
    "Sinh": _hyperbolic,
    "Cosh": _hyperbolic,
    "CtcLoss": _result(inf="ctc loss of a target that is longer than its input", name="result0"),
    "Div": _division,
    "Pow": _power,
    "Mul": _product,
    "Mean": _mean,
    "Std": _spread,
    "Var": _spread,
    "StdMean": _spread,
    "VarMean": _spread,
    "NativeBatchNorm": _normalisation,
    "CudnnBatchNorm": _normalisation,
    "NativeLayerNorm": _normalisation,
    "NativeGroupNorm": _normalisation,
    "NllLoss": _likelihood,
    "NllLoss2D": _likelihood,
}
