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


DOMAINS: dict[str, Domain] = {
    name: domain
    for domain, names in (
        (Domain(0.0, margin=1e-7), "log log2 log10 pow Pow"),
        (Domain(-1.0), "log1p"),
        (Domain(0.0, margin=1e-8, added=True), "sqrt rsqrt"),
        (Domain(0.0), "lgamma digamma"),
        (Domain(0.0, 1.0), "logit"),
        (Domain(-1.0, 1.0), "acos arccos asin arcsin atanh arctanh erfinv"),
        (Domain(1.0), "acosh arccosh"),
        (Domain(0.0, margin=1e-8), "div divide true_divide reciprocal Div"),
    )
    for name in names.split()
}
LOGARITHMS = frozenset({"log", "log2", "log10"})


def names_of(operation: str) -> tuple[str, ...]:
    """What a script calls the operation that a recording names: `log1p of a number below -1`."""
    return CALLED.get(word_of(operation), ())


def word_of(operation: str) -> str:
    """The word of an operation in what a recording says of it."""
    return "power" if " power of " in operation else operation.partition(" ")[0]
