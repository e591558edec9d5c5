"""Edits of the files of a script, collected piece by piece and turned into changed lines."""

from __future__ import annotations

import ast
import bisect
import codecs
import os
import re
import tokenize
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from pathlib import Path

from traindx.core import files
from traindx.core.nouns import Edit
from traindx.experiment.edit.calls import Span, with_keyword
from traindx.experiment.edit.nodes import Nodes, last_name
from traindx.experiment.edit.result import Edited, Uncertain
from traindx.source.edits import edited, parses
from traindx.source.script import Script, Source

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")


class Draft(Nodes):
    """New text for pieces of a script's files. Two edits of one piece must agree."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self._pieces: dict[str, dict[Span, str]] = {}
        self._configs: dict[str, tuple[str, str]] = {}
        self._starts: dict[str, list[int]] = {}
        self.args: tuple[str, ...] | None = None
        self.names: set[str] = set()

    def text(self, node: ast.AST) -> str:
        """The code of a node as it is written."""
        start, end = self.span(node)
        return self.file(node).text[start:end]

    def span(self, node: ast.AST) -> Span:
        """Where a node's text begins and ends."""
        first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if first is None or last is None:
            raise Uncertain("This has no line in the source: change it by hand.")
        start = self._offset(self.file(node), first, node.col_offset)  # type: ignore[attr-defined]
        return start, self._offset(self.file(node), last, node.end_col_offset)  # type: ignore[attr-defined]

    def _offset(self, source: Source, line: int, column: int) -> int:
        if source.path not in self._starts:
            lengths = map(len, _LINES.findall(source.text))
            self._starts[source.path] = list(accumulate(lengths, initial=0))
        starts = self._starts[source.path]
        begin = starts[min(line, len(starts)) - 1]
        end = starts[line] if line < len(starts) else len(source.text)
        return begin + len(source.text[begin:end].encode()[:column].decode(errors="replace"))

    def line_span(self, source: Source, first: int, last: int) -> Span:
        """Where some lines begin and end; of none (`last` below `first`) the place before the first."""
        start = self._offset(source, first, 0)
        return start, start if last < first else self._offset(source, last, 1 << 30)

    def splice(self, source: Source, span: Span, text: str) -> None:
        """Replace a span of a file."""
        pieces = self._pieces.setdefault(source.path, {})
        if pieces.get(span, text) != text and span[0] == span[1]:
            text = pieces[span] + text
        for start, end in pieces:
            same = (start, end) == span
            if (same and pieces[span] != text and start != end) or (
                not same and start < span[1] and span[0] < end
            ):
                line = bisect.bisect_right(self._starts[source.path], start)
                raise Uncertain(f"Line {line} would be changed twice.")
        pieces[span] = text

    def touches(self, node: ast.AST) -> bool:
        """Whether a piece is changed already."""
        start, end = self.span(node)
        return any(a < end and start < b for a, b in self._pieces.get(self.file(node).path, {}))

    def replace(self, node: ast.AST, text: str) -> None:
        """Replace an expression."""
        self.splice(self.file(node), self.span(node), text)

    def wrap(self, node: ast.AST, before: str, after: str) -> None:
        """Text right before and right behind a piece."""
        for at, text in zip(self.span(node), (before, after), strict=True):
            if text:
                self.splice(self.file(node), (at, at), text)

    def rename(self, function: ast.expr, name: str) -> None:
        """Another last name for what a call calls: `a.half` becomes `a.float`."""
        _, end = self.span(function)
        self.splice(self.file(function), (end - len(last_name(function)), end), name)

    def follow(self, node: ast.expr, method: str) -> str:
        """`.method()` behind an expression, in parentheses where it needs some; its new text."""
        text, (start, end), file = self.text(node), self.span(node), self.file(node)
        if isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript):
            self.splice(file, (start, end), text + method)
            return text + method
        around = self.parent(node)
        is_argument = isinstance(around, ast.Call) and node is not around.func
        if not is_argument and file.text[start - 1 : start] == "(" and file.text[end : end + 1] == ")":
            self.splice(file, (end + 1, end + 1), method)
        else:
            self.splice(file, (start, end), f"({text}){method}")
        return f"({text}){method}"

    def keyword(self, call: ast.Call, name: str, value: str) -> None:
        """`name=value` in a call: in the place of the one it has, else as its last argument."""
        for keyword in call.keywords:
            if keyword.arg == name:
                return self.replace(keyword.value, value)
        return self.rewrite(call, with_keyword(self.text(call), name, value))

    def rewrite(self, node: ast.AST, new: str) -> None:
        """A piece's new text, of which only the part that differs is touched."""
        (start, end), old = self.span(node), self.text(node)
        front = _shared(old, new)
        back = _shared(old[front:][::-1], new[front:][::-1])
        self.splice(self.file(node), (start + front, end - back), new[front : len(new) - back])

    def before(self, node: ast.stmt, *lines: str) -> None:
        """Statements before another one, in its block."""
        if getattr(node, "decorator_list", None):
            raise Uncertain("A decorated definition is not touched.", node)
        (start, _), indent = self.span(node), self._indent(node)
        if indent is None:
            new = self._on_one_line(node, lines, "{}; ")
        else:
            start, new = start - len(indent), "".join(f"{indent}{line}\n" for line in lines)
        self.splice(self.file(node), (start, start), new)

    def after(self, node: ast.stmt, *lines: str) -> None:
        """Statements after another one, in its block."""
        end, stop, indent = self._end(node)
        if indent is None:
            self.splice(self.file(node), (end, end), self._on_one_line(node, lines, "; {}"))
            return
        closed = self.file(node).text[end:stop].endswith(("\n", "\r"))
        new = "".join(f"{indent}{line}\n" for line in lines)
        self.splice(self.file(node), (stop, stop), new if closed else "\n" + new.removesuffix("\n"))

    def remove(self, node: ast.stmt) -> None:
        """A statement removed with its lines; `pass` where nothing else is left in its block."""
        (start, end), (_, stop, indent) = self.span(node), self._end(node)
        if len(self.block(node)) < 2 or indent is None:
            self.splice(self.file(node), (start, end), "pass")
        else:
            self.splice(self.file(node), (start - len(indent), stop), "")

    def _indent(self, node: ast.stmt) -> str | None:
        """The indentation of a statement that begins its line; None for others."""
        start, _ = self.span(node)
        front = self.file(node).text[self._offset(self.file(node), node.lineno, 0) : start]
        return front if not front.strip() else None

    def _end(self, node: ast.stmt) -> tuple[int, int, str | None]:
        """Where a statement and its last line end, and its indentation; None where it shares its lines."""
        _, end = self.span(node)
        stop = self._offset(self.file(node), node.end_lineno or node.lineno, 1 << 30)
        rest = self.file(node).text[end:stop].strip()
        return end, stop, self._indent(node) if not rest or rest.startswith("#") else None

    def _on_one_line(self, node: ast.stmt, lines: Sequence[str], form: str) -> str:
        if any(line.endswith(":") or line[:1].isspace() for line in lines):
            raise Uncertain("This line has several statements: change it by hand.", node)
        return "".join(map(form.format, lines))

    def add_import(self, near: ast.AST, line: str) -> None:
        """An import after those at the top of the file of a node."""
        body, last = self.file(near).tree.body, None
        for at, node in enumerate(body):
            docstring = at == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not isinstance(node, ast.Import | ast.ImportFrom) and not docstring:
                break
            last = node
        if last is not None:
            self.after(last, line)
        elif body:
            self.before(body[0], line)

    def config(self, path: str, old: str, new: str) -> None:
        """The new text of a configuration file."""
        self._configs[path] = (self._configs.get(path, (old, ""))[0], new)

    def configured(self, path: str) -> str | None:
        """The text that a configuration file has in this draft; None when it is not touched."""
        return self._configs[path][1] if path in self._configs else None

    def _new_text(self, source: Source) -> str:
        """A file's text with its pieces in place."""
        text = source.text
        for (start, end), new in sorted(self._pieces.get(source.path, {}).items(), reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def edited(self, text: str) -> Edited:
        """All of it as one edit; raises Uncertain when it would not be Python, or changes nothing."""
        edits: list[Edit] = []
        sources: dict[str, str] = {}
        for source in self.script.sources:
            if source.path in self._pieces:
                new = self._new_text(source)
                if not parses(new):
                    raise Uncertain(f"The edit of {source.path} would not be Python: make it by hand. {text}")
                file_edits = line_edits(source.path, source.text, new)
                edits += file_edits
                sources[source.path] = edited(raw_text(source.path, source.text), file_edits)
        for path, (old, new) in self._configs.items():
            file_edits = line_edits(path, old, new)
            edits += file_edits
            sources[path] = edited(old, file_edits)
        if not edits and self.args is None:
            raise Uncertain(f"Nothing is left to change: {text}")
        return Edited(tuple(edits), text, args=self.args, sources=sources)


def _shared(first: str, second: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = zip(first, second, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def line_edits(path: str, old: str, new: str) -> list[Edit]:
    """The lines in which two texts differ."""
    old_lines, new_lines = ([line.rstrip("\r\n") for line in _LINES.findall(text)] for text in (old, new))
    edits = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_opcodes():
        if tag != "equal":
            edits.append(Edit(path, i1 + 1, i2, tuple(new_lines[j1:j2]), "ask"))
    return edits


def raw_text(path: str, text: str) -> str:
    """A file's text with its own line ends; the given text where there is no such file."""
    try:
        raw = files.read(path)
        decoded = raw.decode(encoding_of(raw))
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError):
        return text
    lines = [line.rstrip("\r\n") for line in _LINES.findall(decoded)]
    return decoded if lines == [line.rstrip("\r\n") for line in _LINES.findall(text)] else text


def text_now(path: str) -> str:
    """The text of a file that is edited, its line ends kept: what `encoded` turns into the same bytes."""
    raw = files.read(path)
    return raw.decode(encoding_of(raw) if Path(path).suffix == ".py" else "utf-8-sig")


def encoding_of(raw: bytes) -> str:
    """How a Python file is encoded, by its mark or its first lines."""
    return tokenize.detect_encoding(iter(raw.splitlines(keepends=True)).__next__)[0]


def encoded(path: str | os.PathLike[str], text: str) -> bytes:
    """New text of a file as bytes: in the encoding the text declares, with the mark the file has now."""
    try:
        raw = files.read(path)
    except OSError:
        raw = b""
    if raw.startswith(codecs.BOM_UTF8):
        return text.encode("utf-8-sig")
    if Path(path).suffix != ".py":
        return text.encode()
    try:
        return text.encode(encoding_of(text.encode()))
    except (SyntaxError, LookupError, UnicodeEncodeError, StopIteration):
        return text.encode()
