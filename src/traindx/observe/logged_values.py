"""Values given to `traindx.log` as plain numbers; a value that is not a number is reported, not raised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_DEEPEST = 4


def numbers_of(values: Mapping[str, object]) -> tuple[dict[str, float], dict[str, str]]:
    """Numbers by name, and why other values are not numbers; `{"val": {"acc": 0.9}}` becomes `val/acc`."""
    numbers: dict[str, float] = {}
    odd: dict[str, str] = {}
    for name, value in _flat(values, "", 0):
        try:
            number = _number(value)
        except Exception as error:
            odd[name] = f"{type(value).__name__} is no number ({type(error).__name__})"
            continue
        if number is not None:
            numbers[name] = number
    return numbers, odd


def _flat(values: Mapping[str, object], prefix: str, depth: int) -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and depth < _DEEPEST:
            yield from _flat(value, f"{name}/", depth + 1)
        else:
            yield name, value


def _number(value: object) -> float | None:
    """None is a gap. Tensors and numpy scalars give their one value by `item`."""
    if value is None:
        return None
    if isinstance(value, str | bytes):
        raise TypeError("a text")
    item = getattr(value, "item", None)
    return float(item() if callable(item) else value)  # type: ignore[arg-type]
