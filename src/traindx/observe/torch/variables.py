"""Under which name the running script holds an object."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import torch

_HERE = Path(__file__).parents[2]
_ASIDE = (f"{Path(torch.__file__).parent}{os.sep}", f"{_HERE}{os.sep}")
_VAGUE = frozenset({"self", "cls", "args", "kwargs", "module", "obj"})
_MANY = 64


def variable_name(wanted: object, frame: FrameType | None = None) -> str | None:
    """The name under which a script holds this very object, seen from a frame and its callers.

    A variable anywhere is better than a place in a list, a dict or an attribute, and that is better than a
    name that says nothing.
    """
    scopes = _scopes(frame or sys._getframe(1))
    vague = None
    for scope in scopes:
        for name, value in list(scope.items()):
            if value is wanted and not name.startswith("_"):
                if name not in _VAGUE:
                    return name
                vague = vague or name
    return next((name for scope in scopes for name in _places(scope, wanted)), vague)


def _scopes(frame: FrameType) -> list[Mapping[str, Any]]:
    """The variables of a function and its callers, and of the modules they are in."""
    found: list[Mapping[str, Any]] = []
    modules: set[int] = set()
    here: FrameType | None = frame
    while here is not None:
        if not here.f_code.co_filename.startswith(_ASIDE):
            found.append(_locals(here))
            if id(here.f_globals) not in modules:
                modules.add(id(here.f_globals))
                found.append(here.f_globals)
        here = here.f_back
    return found


def _locals(frame: FrameType) -> Mapping[str, Any]:
    """The variables of a function, without leaving a trace in it.

    Before Python 3.13 asking for them leaves a copy in the frame that keeps every tensor of that moment
    alive, and is the very mapping that `locals()` gave the function: a function that called it is let be.
    """
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return {}
    if sys.version_info >= (3, 13):
        return frame.f_locals
    if not {"locals", "vars", "dir", "eval", "exec"}.isdisjoint(frame.f_code.co_names):
        return {}
    kept = frame.f_locals
    found = dict(kept)
    kept.clear()
    return found


def _places(variables: Mapping[str, Any], wanted: object) -> Iterator[str]:
    for name, value in list(variables.items()):
        kind = type(value)
        if name.startswith("__"):
            continue
        if kind in (list, tuple) and len(value) <= _MANY:
            yield from (f"{name}[{number}]" for number, one in enumerate(value) if one is wanted)
        elif kind is dict and len(value) <= _MANY:
            yield from (
                f"{name}.{key}" for key, one in list(value.items()) if one is wanted and type(key) is str
            )
        elif (name == "self" or kind.__module__ == "__main__") and not issubclass(kind, type):
            own = _attributes(value)
            children = own.get("_modules")
            for held in (own, children if type(children) is dict else {}):
                yield from (key for key, one in list(held.items()) if one is wanted)


def _attributes(value: object) -> dict[str, Any]:
    """What an object holds, without running code of its own."""
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return own if type(own) is dict else {}
