"""Operations that are finite on one side of an edge only: what a script calls them, and where the edge is."""

from __future__ import annotations

from dataclasses import dataclass

# The first word of what a recording says of an operation -> the names it has in a script.
CALLED: dict[str, tuple[str, ...]] = {
    "log": ("log", "log2", "log10"),
    "log1p": ("log1p",),
    "sqrt": ("sqrt", "norm", "cdist", "pairwise_distance", "pow"),
    "1": ("rsqrt", "reciprocal"),
    "exp": ("exp",),
    "norm": ("norm", "normalize", "cdist"),
    "std": ("std",),
    "var": ("var",),
    "acos": ("acos", "arccos"),
    "asin": ("asin", "arcsin"),
    "acosh": ("acosh", "arccosh"),
    "atanh": ("atanh", "arctanh"),
    "erfinv": ("erfinv",),
    "lgamma": ("lgamma",),
    "digamma": ("digamma",),
    "logit": ("logit",),
    "power": ("pow",),
    "division": ("div", "true_divide", "divide", "reciprocal"),
}


@dataclass(frozen=True)
class Domain:
    """Where an operation is finite: above `low`, below `high`, by at least `margin`.

    `added`: what it takes is never below its edge by nature, so that a small number is added instead.
    """

    low: float | None
    high: float | None = None
    margin: float = 1e-6
    added: bool = False


_ABOVE_ZERO = Domain(0.0, margin=1e-7)
_BETWEEN_ONES = Domain(-1.0, 1.0)
_ROOT = Domain(0.0, margin=1e-8, added=True)
DOMAINS: dict[str, Domain] = {
    "log": _ABOVE_ZERO,
    "log2": _ABOVE_ZERO,
    "log10": _ABOVE_ZERO,
    "log1p": Domain(-1.0),
    "sqrt": _ROOT,
    "rsqrt": _ROOT,
    "pow": _ABOVE_ZERO,
    "Pow": _ABOVE_ZERO,
    "lgamma": Domain(0.0),
    "digamma": Domain(0.0),
    "logit": Domain(0.0, 1.0),
    "acos": _BETWEEN_ONES,
    "arccos": _BETWEEN_ONES,
    "asin": _BETWEEN_ONES,
    "arcsin": _BETWEEN_ONES,
    "atanh": _BETWEEN_ONES,
    "arctanh": _BETWEEN_ONES,
    "erfinv": _BETWEEN_ONES,
    "acosh": Domain(1.0),
    "arccosh": Domain(1.0),
    "div": Domain(0.0, margin=1e-8),
    "divide": Domain(0.0, margin=1e-8),
    "true_divide": Domain(0.0, margin=1e-8),
    "reciprocal": Domain(0.0, margin=1e-8),
    "Div": Domain(0.0, margin=1e-8),
}
LOGARITHMS = frozenset({"log", "log2", "log10"})


def names_of(operation: str) -> tuple[str, ...]:
    """What a script calls the operation that a recording names: `log1p of a number below -1`."""
    return CALLED.get(word_of(operation), ())


def word_of(operation: str) -> str:
    """The word of an operation in what a recording says of it."""
    return "power" if " power of " in operation else operation.partition(" ")[0]
