"""Calls and lists as text: an argument added, replaced or removed, everything else unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import libcst as cst


def with_keyword(call: str, name: str, value: str) -> str | None:
    """A call's text with `name=value`: in the place of the one it has, else as its last argument."""
    import libcst as cst

    node = cst.parse_expression(call)
    if not isinstance(node, cst.Call):
        return None
    new_value = cst.parse_expression(value)
    for at, arg in enumerate(node.args):
        if arg.keyword is not None and arg.keyword.value == name:
            args = [*node.args[:at], arg.with_changes(value=new_value), *node.args[at + 1 :]]
            return _code(node.with_changes(args=args))
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    new = cst.Arg(new_value, keyword=cst.Name(name), equal=equal)
    return _code(node.with_changes(args=_appended(node, new)))


def _appended(node: cst.Call, new: cst.Arg) -> list[cst.Arg]:
    import libcst as cst

    if not node.args:
        return [new]
    *front, last = node.args
    if isinstance(last.comma, cst.Comma):
        after = last.comma.whitespace_after
        between = _between(node, after)
        closing = after
        if isinstance(after, cst.ParenthesizedWhitespace):
            closing = after.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=())
        new = new.with_changes(comma=cst.Comma(whitespace_after=closing))
    else:
        between = _between(node, last.whitespace_after_arg)
        new = new.with_changes(whitespace_after_arg=_plain(last.whitespace_after_arg))
        last = last.with_changes(whitespace_after_arg=cst.SimpleWhitespace(""))
    comma = last.comma if isinstance(last.comma, cst.Comma) else cst.Comma()
    return [*front, last.with_changes(comma=comma.with_changes(whitespace_after=between)), new]


def _plain(space: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    """White space without its comment."""
    import libcst as cst

    if isinstance(space, cst.ParenthesizedWhitespace):
        return space.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=())
    return space


def _between(node: cst.Call, end: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    """What separates two arguments, with the comment behind the last one."""
    import libcst as cst

    if not isinstance(end, cst.ParenthesizedWhitespace):
        return cst.SimpleWhitespace(" ")
    others = [arg.comma.whitespace_after for arg in node.args[:-1] if isinstance(arg.comma, cst.Comma)]
    like = next((one for one in others if isinstance(one, cst.ParenthesizedWhitespace)), None)
    like = like or (
        node.whitespace_before_args
        if isinstance(node.whitespace_before_args, cst.ParenthesizedWhitespace)
        else None
    )
    if like is None:
        return end if _has_comment(end) else cst.SimpleWhitespace(" ")
    return end.with_changes(indent=like.indent, last_line=like.last_line)


def without(text: str, indices: Sequence[int]) -> str | None:
    """A call's or list's text without some of its parts."""
    import libcst as cst

    node = cst.parse_expression(text)
    if isinstance(node, cst.Call):
        return _code(node.with_changes(args=_without(node.args, indices)))
    if isinstance(node, cst.List | cst.Tuple | cst.Set):
        return _code(node.with_changes(elements=_without(node.elements, indices)))
    return None


def _without(
    parts: Sequence[cst.Arg] | Sequence[cst.BaseElement], indices: Sequence[int]
) -> list[cst.CSTNode]:
    """The parts that stay; the last one of them ends as the last one did."""
    removed = {index % len(parts) for index in indices}
    parts_left: list[cst.CSTNode] = [part for at, part in enumerate(parts) if at not in removed]
    if parts_left and len(parts) - 1 in removed:
        parts_left[-1] = _closed(parts_left[-1], parts[-1])
    return parts_left


def _closed(new: Any, old: Any) -> Any:
    """A part that ends as the old last one did, with the comment behind it."""
    import libcst as cst

    own = new.comma.whitespace_after if isinstance(new.comma, cst.Comma) else None
    if isinstance(old.comma, cst.Comma) or (own is not None and _has_comment(new.comma.whitespace_before)):
        end = old.comma.whitespace_after if isinstance(old.comma, cst.Comma) else own
        comma = new.comma if own is not None else cst.Comma()
        return new.with_changes(comma=comma.with_changes(whitespace_after=_merged(own, end)))
    if hasattr(old, "whitespace_after_arg"):
        after = _merged(own, old.whitespace_after_arg)
        return new.with_changes(comma=old.comma, whitespace_after_arg=after)
    return new.with_changes(comma=old.comma)


def _merged(own: Any, end: Any) -> Any:
    import libcst as cst

    if isinstance(end, cst.ParenthesizedWhitespace):
        if isinstance(own, cst.ParenthesizedWhitespace):
            return end.with_changes(first_line=own.first_line, empty_lines=own.empty_lines)
        return _plain(end)
    return own if _has_comment(own) else end


def _has_comment(space: Any) -> bool:
    """Whether white space holds a comment."""
    import libcst as cst

    if not isinstance(space, cst.ParenthesizedWhitespace):
        return False
    return space.first_line.comment is not None or any(line.comment for line in space.empty_lines)


def inserted(text: str, index: int, value: str) -> str | None:
    """A call's or list's text with one more part before the one at `index`."""
    import libcst as cst

    node = cst.parse_expression(text)
    parts = node.args if isinstance(node, cst.Call) else getattr(node, "elements", None)
    if parts is None or not 0 <= index < len(parts):
        return None
    new_value = cst.parse_expression(value)
    others = [one.comma for one in parts if isinstance(one.comma, cst.Comma)]
    comma = others[0] if others else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    if isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace):
        comma = cst.Comma(whitespace_after=_plain(comma.whitespace_after))
    elif index == len(parts) - 1 and len(parts) == 1:
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    if isinstance(node, cst.Call):
        return _code(
            node.with_changes(args=[*parts[:index], cst.Arg(new_value, comma=comma), *parts[index:]])
        )
    new = cst.Element(new_value, comma=comma)
    return _code(node.with_changes(elements=[*parts[:index], new, *parts[index:]]))


def _code(node: cst.CSTNode) -> str:
    import libcst as cst

    return cst.Module([]).code_for_node(node)
