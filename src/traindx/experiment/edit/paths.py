"""The file that an expression of a script names: joined, relative to the script, or given as an option."""

from __future__ import annotations

import ast
import os
from pathlib import Path

from traindx.experiment.edit.job import Job
from traindx.experiment.edit.options import CommandOption, given_value, option_around, option_of
from traindx.source.values import Const, Made, Unknown, Value, options

_LARGEST = 1_000_000
_DEEP = 10
_SAME = frozenset(
    "open Path PurePath str fspath abspath realpath expanduser normpath resolve absolute as_posix read_text "
    "read_bytes read expandvars to_absolute_path StringIO BytesIO".split()
)


def file_of(job: Job, value: Value) -> str | None:
    """The existing file that something is read from: `open(...)`, `Path(...).read_text()`, its name."""
    paths = {path for option in options(value) if (path := _existing(job, _path_text(job, option, _DEEP)))}
    return paths.pop() if len(paths) == 1 else None


def _existing(job: Job, name: str | None) -> str | None:
    if not name:
        return None
    folder = os.path.dirname(job.script.main.path)
    for path in dict.fromkeys([os.path.join(job.folder, name), os.path.join(folder, name), name]):
        if os.path.isfile(path) and os.path.getsize(path) < _LARGEST:
            return path
    return None


def _path_text(job: Job, value: Value | None, depth: int) -> str | None:
    """The path as text."""
    if value is None or depth == 0:
        return None
    path = _command_line_value(job, value)
    if path is not None:
        return path
    if isinstance(value, Const):
        return value.value if isinstance(value.value, str) else None
    if isinstance(value, Unknown):
        return value.spot.source.path if value.name == "__file__" and value.spot is not None else None
    if not isinstance(value, Made):
        return None
    if value.kind == "operator":
        return _joined(job, value.args, depth, "" if value.name == "Add" else os.sep)
    if value.kind in ("attribute", "item"):
        return _part(job, value, depth)
    return _from_call(job, value, depth)


def _command_line_value(job: Job, value: Value) -> str | None:
    """What the command line gives for it."""
    option: CommandOption | None = option_of(value)
    if option is None and value.spot is not None and isinstance(value.spot.node, ast.expr):
        option = option_around(value.spot)
    value_at = given_value(job.args, option) if option is not None else None
    return value_at[1] if value_at is not None else None


def _from_call(job: Job, value: Made, depth: int) -> str | None:
    first = value.receiver if value.kind == "method" else (value.args[0] if value.args else None)
    rest = value.args if value.kind == "method" else value.args[1:]
    texts = [
        argument.value for argument in rest if isinstance(argument, Const) and isinstance(argument.value, str)
    ]
    if value.short in ("join", "joinpath") or (value.short == "Path" and rest):
        return _joined(job, value.args if value.kind == "call" else [first or value, *rest], depth, os.sep)
    path = _path_text(job, first, depth - 1)
    if path is None or value.short in _SAME:
        return path
    try:
        if value.short in ("with_suffix", "with_name", "with_stem") and len(texts) == 1:
            return str(getattr(Path(path), value.short)(texts[0]))
    except ValueError:
        return None
    if value.short == "replace" and len(texts) == 2:
        return path.replace(texts[0], texts[1])
    return os.path.dirname(path) if value.short == "dirname" else None


def _part(job: Job, value: Made, depth: int) -> str | None:
    """`path.parent`, `os.path.splitext(path)[0]`."""
    of = value.receiver
    if value.kind == "attribute" and value.name == "parent":
        path = _path_text(job, of, depth - 1)
        return os.path.dirname(path) if path is not None else None
    split = isinstance(of, Made) and of.short == "splitext" and value.kind == "item"
    if split and isinstance(of, Made) and of.args and isinstance(key := value.args[0], Const):
        path = _path_text(job, of.args[0], depth - 1)
        return os.path.splitext(path)[0] if path is not None and key.value == 0 else None
    return None


def _joined(job: Job, values: list[Value], depth: int, by: str) -> str | None:
    parts = [_path_text(job, value, depth - 1) for value in values]
    if not parts or any(part is None for part in parts):
        return None
    texts = [part for part in parts if part is not None]
    return os.path.join(*texts) if by else "".join(texts)
