"""Tests that are certainly true or false: a branch that cannot be taken is not followed."""

from __future__ import annotations

import ast

from traindx.source.values import (
    Class,
    Const,
    DictValue,
    Function,
    Instance,
    ListValue,
    Made,
    Module,
    Spot,
    Value,
)


def truth(value: Value) -> bool | None:
    """True or False when it is sure; what a command line may change is never sure."""
    if isinstance(value, Const):
        return None if value.soft else bool(value.value)
    return True if is_object(value) else None


def is_object(value: Value) -> bool:
    """Whether a value is surely some object, not None."""
    if isinstance(value, Instance | Function | Class | Module):
        return True
    return isinstance(value, Made) and value.kind == "call" and value.short[:1].isupper()


def compared(left: Value, operator: ast.cmpop, right: Value, spot: Spot) -> Const | None:
    """What a comparison gives, when that is sure."""
    if isinstance(operator, ast.Is | ast.IsNot):
        is_none = _is_none(left, right)
        return None if is_none is None else Const(spot, is_none == isinstance(operator, ast.Is))
    if not (isinstance(left, Const) and isinstance(right, Const)) or left.soft or right.soft:
        return _contained(left, operator, right, spot)
    if isinstance(operator, ast.Eq | ast.NotEq):
        return Const(spot, (left.value == right.value) == isinstance(operator, ast.Eq))
    return None


def _is_none(left: Value, right: Value) -> bool | None:
    """Whether the one that is compared with None is None."""
    operand = left if isinstance(right, Const) and right.value is None else None
    if operand is None:
        return None
    if isinstance(operand, Const):
        return None if operand.soft else operand.value is None
    surely_object = is_object(operand) or isinstance(operand, ListValue | DictValue)
    return False if surely_object else None


def _contained(left: Value, operator: ast.cmpop, right: Value, spot: Spot) -> Const | None:
    if not isinstance(operator, ast.In | ast.NotIn) or not isinstance(left, Const) or left.soft:
        return None
    if not isinstance(right, ListValue) or right.open:
        return None
    inside = [item.value for item in right.items if isinstance(item, Const)]
    if len(inside) < len(right.items):
        return None
    return Const(spot, (left.value in inside) == isinstance(operator, ast.In))
