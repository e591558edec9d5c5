"""Calls and lists as text: a keyword added, parts removed, everything else unchanged."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence
from itertools import accumulate, pairwise

# What may come behind the last part before a comma.
_COMMA = re.compile(r"(?:\s|#[^\n]*\n)*,")
_SILENT = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER)
Span = tuple[int, int]


def with_keyword(call: str, name: str, value: str) -> str:
    """A call's text with `name=value` as its last argument, on a line of its own where others have one."""
    parts, new = _parts(call), f"{name}={value}"
    if not parts:
        return f"{call[:-1]}{new})"
    end = parts[-1][1]
    separator, rest = _after_comma(call[end:-1])
    comma = "," if separator else ""
    front = call[:end] + (separator or ",")
    own_lines = (re.search(r"\n([ \t]*)$", call[:start]) for start, _ in parts)
    indents = [match[1] for match in own_lines if match is not None]
    if "\n" in rest and (indents or "#" in rest):
        comments, _, closing = rest.rpartition("\n")
        return f"{front}{comments}\n{indents[0] if indents else closing}{new}{comma}\n{closing})"
    return f"{front} {new}{comma}{rest})"


def without(text: str, indices: Sequence[int]) -> str:
    """A call's or list's text without some of its parts; a comment goes with the part it is behind."""
    parts = _parts(text)
    removed = {index % len(parts) for index in indices}
    kept_indices = [at for at in range(len(parts)) if at not in removed]
    if not kept_indices:
        return text[: parts[0][0]] + text[-1]
    starts = [start for start, _ in parts]
    pieces = [text[start:end] for at, (start, end) in enumerate(pairwise(starts)) if at in kept_indices[:-1]]
    start, end = parts[kept_indices[-1]]
    closing = text[parts[-1][1] : -1]
    if kept_indices[-1] != len(parts) - 1:
        before, own = _after_comma(text[end : starts[kept_indices[-1] + 1]])
        comma, rest = _after_comma(closing)
        own = own.rpartition("\n")[0] if "#" in own else ""
        rest = "\n" + rest.rpartition("\n")[2] if "\n" in rest or own else rest
        closing = before[:-1] + ("," if comma else "") + own + rest
    return text[: starts[0]] + "".join(pieces) + text[start:end] + closing + text[-1]


def _after_comma(tail: str) -> tuple[str, str]:
    """What is behind a part, up to its comma and after it; the first is empty where there is no comma."""
    comma = _COMMA.match(tail)
    return (comma[0], tail[comma.end() :]) if comma else ("", tail)


def _parts(text: str) -> list[Span]:
    """Where the arguments of a call, or the elements of a list, begin and end; read backwards."""
    lines = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
    read = tokenize.generate_tokens(io.StringIO(text).readline)
    *tokens, _ = (token for token in read if token.type not in _SILENT)
    parts: list[Span] = []
    depth, between = 0, True
    for token in reversed(tokens):
        depth += (token.string in ")]}") - (token.string in "([{")
        if depth < 0:
            break
        start, end = (lines[row - 1] + column for row, column in (token.start, token.end))
        if depth == 0 and token.string == ",":
            between = True
        elif between:
            parts.insert(0, (start, end))
            between = False
        else:
            parts[0] = (start, parts[0][1])
    return parts
