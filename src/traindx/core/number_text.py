"""Numbers as a person would write them, in one way for findings, remedies, reasons and reports."""

from __future__ import annotations

import math
import re

_AGES = 1e11
_FACTOR_MOST, _PERCENT_MOST, _PERCENT_LEAST = 1e12, 1e5, 1e-3
_WORDS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"), (1e4, "thousand"))
_CODE = re.compile(r"(`[^`]*`)")
# A number that stands for itself: no part of a name, a path, a version or an assignment.
_NUMBER = re.compile(
    r"(?<![\w.,/:@#=$~+-])([+-]?)(\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w/:=]|\.\d|-\w)( ?%| times\b)?"
)


def short(number: float | None) -> str:
    """A number in about four digits: 0.0123, 1,250, 3e-4, NaN."""
    if number is None:
        return ""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Inf" if number > 0 else "-Inf"
    size = abs(number)
    if size and (size < 1e-3 or size >= 1e7):
        digits, _, power = f"{number:.2e}".partition("e")
        return f"{digits.rstrip('0').rstrip('.')}e{int(power)}"
    if number == int(number):
        return f"{int(number):,}"
    return f"{number:,.1f}" if size >= 999.95 else f"{number:.4g}"


def rounded(number: float, digits: int = 2) -> str:
    """A number in at most so many significant digits: 0.012."""
    return short(float(f"{number:.{digits}g}"))


def text(value: float) -> str:
    """`0.0002`, `5e-6`, `12500`, `1.86`: short, without a trailing zero or an empty exponent digit."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if float(value).is_integer() and abs(value) < 1e7:
        return str(int(value))
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    mantissa, _, exponent = f"{value:.3g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def count(value: float) -> str:
    """`950`, `66.8 thousand`, `124 million`, `7 billion`."""
    for size, word in _WORDS:
        if value >= size:
            return f"{text(value / (1e3 if word == 'thousand' else size))} {word}"
    return text(value)


def percent(share: float) -> str:
    """`5 %`, `0.4 %`, `1,500 %`; beyond all measure `over 100,000 %` or `under 0.001 %`."""
    amount = 100 * share
    if amount >= _PERCENT_MOST:
        return f"over {_PERCENT_MOST:,.0f} %"
    if amount >= 1000:
        return f"{_two_digits(amount):,} %"
    if 0 < amount < _PERCENT_LEAST:
        return f"under {_PERCENT_LEAST:g} %"
    return f"{amount:.0f} %" if share >= 0.02 else f"{amount:.2g} %"


def probability(share: float) -> str:
    """`82 %`; certainty is never claimed."""
    if not share >= 0.005:
        return "<1 %"
    return ">99 %" if share >= 0.995 else f"{round(100 * share)} %"


def times(factor: float) -> str:
    """`1.8 times`, `30 times`, `38,000 times`, `64 million times`, `over a trillion times`."""
    if not factor < _FACTOR_MOST:
        return "over a trillion times"
    if factor < 10:
        return f"{text(round(factor, 1))} times"
    if factor < 1000:
        return f"{round(factor)} times"
    if factor < 1e6:
        return f"{_two_digits(factor):,} times"
    return f"{count(_two_digits(factor))} times"


def place(axis: str, step: float, *, whole: bool = True) -> str:
    """`step 12,500`, `epoch 3`; a fraction of an epoch only where the log counts in fractions."""
    return f"{axis} {step_text(step, whole=whole)}"


def step_text(step: float, *, whole: bool = True) -> str:
    if not math.isfinite(step):
        return short(step)
    return f"{math.floor(step + 0.5):,}" if whole and abs(step) < 1e15 else f"{step:,.10g}"


def lasting(seconds: float) -> str:
    """A duration in its two largest units."""
    if not abs(seconds) < _AGES:
        return "an unknown time"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, hours, days = round(seconds / 60), int(seconds // 3600), int(seconds // 86400)
    if hours < 1:
        return f"{minutes} min"
    if days < 1:
        return f"{hours} h {int(seconds // 60) % 60} min"
    return f"{days} d {hours % 24} h"


def lasting_each(seconds: float) -> str:
    """A duration that may be very short, as that of a step."""
    return lasting(seconds) if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def readable(sentence: str) -> str:
    """A sentence with its numbers as a person would write them; `code` between backticks stays.

    Sentences come from many places, plugins among them: `6.99e+11 times`, `1984000000000000 %` and
    `0.6931471805` never reach a reader.
    """
    parts = _CODE.split(sentence)
    return "".join(part if at % 2 else _NUMBER.sub(_rewritten, part) for at, part in enumerate(parts))


def _rewritten(match: re.Match[str]) -> str:
    sign, digits, unit = match[1], match[2], (match[3] or "").strip()
    grouped = digits.rstrip(",")
    rest = digits[len(grouped) :]
    value = float(grouped.replace(",", ""))
    sign = sign if value else ""
    if unit == "times":
        return f"{sign}{times(value) if value >= 1000 or 'e' in grouped.lower() else f'{grouped} times'}"
    if unit == "%":
        if value == 0:
            return "0 %"
        usual = _PERCENT_LEAST <= value < 1000
        return f"{sign}{_plain_number(grouped, value)} %" if usual else percent(value / 100)
    return f"{sign}{_plain_number(grouped, value)}{rest}"


def _plain_number(digits: str, value: float) -> str:
    if "e" in digits.lower():
        return f"{float(f'{value:.3g}'):,.10g}" if 1e-3 <= value < 1e7 else _plain_power(digits)
    whole, _, fraction = digits.replace(",", "").partition(".")
    if not fraction:
        return digits if "," in digits or len(whole) < 5 else f"{value:,.0f}" if value < 1e9 else short(value)
    if len(whole) >= 5:
        return short(value)
    significant = len((whole + fraction).lstrip("0"))
    return digits if significant <= 6 else _plain_power(f"{value:.5g}")


def _plain_power(digits: str) -> str:
    """`1.8e-06` is `1.8e-6`, `7e+11` is `7e11`; a long mantissa is cut to three digits."""
    mantissa, _, power = digits.lower().partition("e")
    if not power:
        return digits
    mantissa = mantissa if len(mantissa) <= 4 else f"{float(mantissa):.3g}"
    return f"{mantissa}e{int(power)}"


def _two_digits(value: float) -> int:
    return int(float(f"{value:.2g}"))
