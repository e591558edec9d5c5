"""Changes to the files of a script, gathered piece by piece, then made into lines."""

from __future__ import annotations

import ast
import bisect
import codecs
import os
import re
import tokenize
from difflib import SequenceMatcher
from pathlib import Path

from traindx.core import files
from traindx.core.nouns import Edit, Grade
from traindx.experiment.edit.calls import with_keyword
from traindx.experiment.edit.result import Edited, Uncertain
from traindx.source.edit_pieces import place
from traindx.source.edits import edited, parses
from traindx.source.script import Script, Source
from traindx.source.values import Spot

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")


class Draft:
    """New text for pieces of a script's files. What touches the same piece twice must say the same."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self._pieces: dict[str, dict[tuple[int, int], str]] = {}
        self._configs: dict[str, tuple[str, str]] = {}
        self._starts: dict[str, list[int]] = {}
        self.args: tuple[str, ...] | None = None
        self.names: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._pieces or self._configs or self.args is not None)

    def text(self, source: Source, node: ast.AST) -> str:
        """The code of a node as it is written."""
        start, end = self.span(source, node)
        return source.text[start:end]

    def span(self, source: Source, node: ast.AST) -> tuple[int, int]:
        """Where a node's text begins and ends."""
        first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if first is None or last is None:
            raise Uncertain("This has no line in the source: change it by hand.")
        start = self._offset(source, first, node.col_offset)  # type: ignore[attr-defined]
        return start, self._offset(source, last, node.end_col_offset)  # type: ignore[attr-defined]

    def _offset(self, source: Source, line: int, column: int) -> int:
        starts = self._starts.get(source.path)
        if starts is None:
            starts, at = [], 0
            for one in _LINES.findall(source.text):
                starts.append(at)
                at += len(one)
            starts.append(at)
            self._starts[source.path] = starts
        begin = starts[min(line, len(starts)) - 1]
        end = starts[line] if line < len(starts) else len(source.text)
        return begin + len(source.text[begin:end].encode()[:column].decode(errors="replace"))

    def line_span(self, source: Source, first: int, last: int) -> tuple[int, int]:
        """Where some lines begin and end; of none (`last` below `first`) the place before the first."""
        start = self._offset(source, first, 0)
        return start, start if last < first else self._offset(source, last, 1 << 30)

    def line_of(self, source: Source, offset: int) -> int:
        """The number of the line at an offset of the text."""
        self._offset(source, 1, 0)
        return bisect.bisect_right(self._starts[source.path], offset)

    def splice(self, source: Source, span: tuple[int, int], text: str) -> None:
        """Text in the place of other text."""
        pieces = self._pieces.setdefault(source.path, {})
        if pieces.get(span, text) != text and span[0] == span[1]:
            text = pieces[span] + text
        for start, end in pieces:
            if (start, end) == span and pieces[span] != text and start != end:
                raise Uncertain(f"Line {self.line_of(source, start)} would be changed twice.")
            if (start, end) != span and start < span[1] and span[0] < end:
                raise Uncertain(f"Line {self.line_of(source, start)} would be changed twice.")
        pieces[span] = text

    def touches(self, source: Source, node: ast.AST) -> bool:
        """Whether a piece is changed already."""
        start, end = self.span(source, node)
        return any(a < end and start < b for a, b in self._pieces.get(source.path, {}))

    def replace(self, source: Source, node: ast.AST, text: str) -> None:
        """An expression written otherwise."""
        self.splice(source, self.span(source, node), text)

    def follow(self, source: Source, node: ast.expr, method: str) -> str:
        """`.method()` behind an expression, in parentheses where it needs some; its new text."""
        text, (start, end) = self.text(source, node), self.span(source, node)
        if isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript):
            self.splice(source, (start, end), text + method)
            return text + method
        around = source.parents.get(node)
        is_argument = isinstance(around, ast.Call) and node is not around.func
        if not is_argument and source.text[start - 1 : start] == "(" and source.text[end : end + 1] == ")":
            self.splice(source, (end + 1, end + 1), method)
        else:
            self.splice(source, (start, end), f"({text}){method}")
        return f"({text}){method}"

    def keyword(self, source: Source, call: ast.Call, name: str, value: str) -> None:
        """`name=value` in a call: in the place of the one it has, else as its last argument."""
        for one in call.keywords:
            if one.arg == name:
                return self.replace(source, one.value, value)
        new = with_keyword(self.text(source, call), name, value)
        if new is None:
            raise Uncertain(f"Write `{name}={value}` into line {call.lineno}.", place(Spot(source, call)))
        return self.rewrite(source, call, new)

    def rewrite(self, source: Source, node: ast.AST, new: str) -> None:
        """A piece's new text, of which only the part that differs is touched."""
        start, end = self.span(source, node)
        old = source.text[start:end]
        front = _shared(old, new)
        back = _shared(old[front:][::-1], new[front:][::-1])
        self.splice(source, (start + front, end - back), new[front : len(new) - back])

    def before(self, source: Source, node: ast.stmt, *lines: str) -> None:
        """Statements before another one, in its block."""
        decorated = getattr(node, "decorator_list", None)
        if decorated:
            raise Uncertain("A decorated definition is not touched.", place(Spot(source, node)))
        start, _ = self.span(source, node)
        indent = self._indent(source, node)
        if indent is None:
            if any(line.endswith(":") or line[:1].isspace() for line in lines):
                raise Uncertain(
                    "This line has several statements: change it by hand.", place(Spot(source, node))
                )
            self.splice(source, (start, start), "".join(f"{line}; " for line in lines))
            return
        begin = start - len(indent)
        self.splice(source, (begin, begin), "".join(f"{indent}{line}\n" for line in lines))

    def after(self, source: Source, node: ast.stmt, *lines: str) -> None:
        """Statements after another one, in its block."""
        _, end = self.span(source, node)
        indent = self._indent(source, node)
        stop = self._offset(source, node.end_lineno or node.lineno, 1 << 30)
        rest = source.text[end:stop].strip()
        if indent is None or (rest and not rest.startswith("#")):
            if any(line.endswith(":") or line[:1].isspace() for line in lines):
                raise Uncertain(
                    "This line has several statements: change it by hand.", place(Spot(source, node))
                )
            self.splice(source, (end, end), "".join(f"; {line}" for line in lines))
            return
        closed = source.text[end:stop].endswith(("\n", "\r"))
        new = "".join(f"{indent}{line}\n" for line in lines)
        self.splice(source, (stop, stop), new if closed else "\n" + new.removesuffix("\n"))

    def remove(self, source: Source, node: ast.stmt) -> None:
        """A statement removed with its lines; `pass` where nothing else is left in its block."""
        start, end = self.span(source, node)
        indent = self._indent(source, node)
        stop = self._offset(source, node.end_lineno or node.lineno, 1 << 30)
        rest = source.text[end:stop].strip()
        around = source.parents.get(node)
        blocks = [getattr(around, name, None) for name in ("body", "orelse", "finalbody")]
        alone = not any(isinstance(block, list) and node in block and len(block) > 1 for block in blocks)
        if alone or indent is None or (rest and not rest.startswith("#")):
            self.splice(source, (start, end), "pass")
            return
        self.splice(source, (start - len(indent), stop), "")

    def _indent(self, source: Source, node: ast.stmt) -> str | None:
        """The indentation of a statement that begins its line; None for others."""
        start, _ = self.span(source, node)
        before = source.text[self._offset(source, node.lineno, 0) : start]
        return before if not before.strip() else None

    def config(self, path: str, old: str, new: str) -> None:
        """The new text of a configuration file."""
        self._configs[path] = (self._configs.get(path, (old, ""))[0], new)

    def configured(self, path: str) -> str | None:
        """The text that a configuration file has in this draft; None when it is not touched."""
        return self._configs[path][1] if path in self._configs else None

    def new_text(self, source: Source) -> str:
        """A file's text with its pieces in place."""
        text = source.text
        for (start, end), new in sorted(self._pieces.get(source.path, {}).items(), reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def edited(self, text: str, grade: Grade = "ask") -> Edited:
        """All of it as one edit; raises Uncertain when it would not be Python, or changes nothing."""
        edits: list[Edit] = []
        sources: dict[str, str] = {}
        for source in self.script.sources:
            if source.path in self._pieces:
                new = self.new_text(source)
                if not parses(new):
                    raise Uncertain(f"The edit of {source.path} would not be Python: make it by hand. {text}")
                own = line_edits(source.path, source.text, new, grade)
                edits += own
                sources[source.path] = edited(raw_text(source.path, source.text), own)
        for path, (old, new) in self._configs.items():
            own = line_edits(path, old, new, grade)
            edits += own
            sources[path] = edited(old, own)
        if not edits and self.args is None:
            raise Uncertain(f"Nothing is left to change: {text}")
        return Edited(tuple(edits), text, grade, self.args, sources)


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def line_edits(path: str, old: str, new: str, grade: Grade) -> list[Edit]:
    """The lines in which two texts differ."""
    before, after = ([line.rstrip("\r\n") for line in _LINES.findall(text)] for text in (old, new))
    edits = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            edits.append(Edit(path, i1 + 1, i2, tuple(after[j1:j2]), grade))
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
