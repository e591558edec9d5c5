"""A number as it should be: scaled, or set; and how it is written."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from traindx.core.nouns import Scalar


@dataclass(frozen=True)
class NewNumber:
    """The new value of a number: `factor` times the old one, or `value`."""

    factor: float | None = None
    value: Scalar = None
    whole: bool = False

    def literal(self, old: float, old_text: str = "") -> str:
        """The new number, in the manner of the old."""
        if self.factor is None:
            return plain(self.value, old_text)
        new: float = old * self.factor
        return str(max(1, round(new))) if self.whole else plain(float(f"{new:.10g}"), old_text)

    def expression(self, old: ast.expr, text: str) -> str:
        """The new value of one that is computed."""
        if self.factor is None:
            return plain(self.value)
        loose = isinstance(old, ast.BinOp) and not isinstance(old.op, ast.Mult | ast.Div)
        if loose or isinstance(old, ast.IfExp | ast.Lambda | ast.BoolOp | ast.Compare):
            text = f"({text})"
        if self.whole:
            return f"max(1, int({text} * {plain(self.factor)}))"
        return f"{text} * {plain(self.factor)}"


def plain(value: Scalar, like: str = "") -> str:
    """A number as people write it: `1e-4` where the old one was `1e-3`."""
    if isinstance(value, str):
        return value if like else repr(value)
    if not isinstance(value, float):
        return repr(value)
    text = f"{value:.10g}"
    if "e" in like.lower() or "e" in text or 0 < abs(value) < 1e-4:
        text = short(value)
    try:
        is_whole = isinstance(ast.literal_eval(text), int)
    except (ValueError, SyntaxError):
        return repr(value)
    return text + ".0" if is_whole else text


def short(value: float) -> str:
    """`1e-4`, `3.5e-3`; plain for what is not far from one."""
    if value == 0 or 0.1 <= abs(value) < 1000:
        return f"{value:.10g}"
    mantissa, _, exponent = f"{value:.9e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}"
