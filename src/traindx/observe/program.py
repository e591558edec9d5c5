"""The user's program, run in this process as `__main__` the way Python itself would run it.

A program is a script, a module (`-m`), or a folder or zip file that holds `__main__.py`.
"""

from __future__ import annotations

import builtins
import io
import os
import pkgutil
import runpy
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader, SourcelessFileLoader
from types import CodeType, ModuleType
from typing import Literal

from traindx.core import files
from traindx.observe import module_search

_BYTECODE = ".pyc"


class NoProgram(Exception):
    """There is nothing to run; the message is one line for the user."""


@dataclass(frozen=True)
class Program:
    """What to run: `name` is the path or the module as the user wrote it."""

    kind: Literal["script", "module", "container"]
    name: str
    args: tuple[str, ...] = ()
    path: str | None = None
    """The file whose code runs, where that is known before it runs."""

    @property
    def stem(self) -> str:
        """A short name for it."""
        if self.kind == "module":
            return self.name.rpartition(".")[2]
        base = os.path.basename(os.path.abspath(self.name))
        return base if self.kind == "container" and os.path.isdir(self.name) else os.path.splitext(base)[0]

    @property
    def command(self) -> list[str]:
        """What would be given to plain Python."""
        return [*(["-m"] if self.kind == "module" else []), self.name, *self.args]

    @property
    def typed(self) -> str:
        """The command line that runs it under plain Python."""
        return shlex.join(["python", *self.command])


def find_module(name: str, args: tuple[str, ...], folder: str | None = None) -> Program:
    """The module of `-m`, looked for the way Python does: the folder it is to run in comes first.

    Nothing is imported: what only an import can show stays unknown until the program runs.
    """
    folder = folder or os.getcwd()
    if name.startswith(".") or not all(name.split(".")):
        raise NoProgram(f"-m takes the name of a module, like package.train; got {name!r}.")
    if name.endswith(".py") and os.path.exists(os.path.join(folder, name)):
        raise NoProgram(f"-m takes the name of a module; {name} is a file: run it without -m.")
    try:
        spec = module_search.located(name, sys.path if sys.flags.safe_path else [folder, *sys.path[1:]])
    except module_search.ModuleNotFound:
        return Program("module", name, args)
    if spec is None:
        raise NoProgram(f"no module named {name!r} was found. Give a module that 'python -m' can run.")
    if spec.submodule_search_locations is not None:
        raise NoProgram(f"{name} is a package without a __main__ module. Give one of its modules.")
    return Program("module", name, args, spec.origin if spec.has_location else None)


def find_script(name: str, args: tuple[str, ...], folder: str | None = None) -> Program:
    """A script that can be opened and is Python; or a folder or zip file with `__main__.py`."""
    full = os.path.join(folder or os.getcwd(), name)
    if not os.path.exists(full):
        raise NoProgram(f"{name} does not exist. Give the script as you give it to python.")
    importer = pkgutil.get_importer(full)
    if importer is not None:
        spec = importer.find_spec("__main__")
        if spec is None:
            kind = "folder" if os.path.isdir(full) else "zip file"
            raise NoProgram(f"{name} is a {kind} without __main__.py. Give a script.")
        return Program("container", name, args, spec.origin)
    try:
        head = files.head(full, 4096)
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        raise NoProgram(f"{name} cannot be read: {why}.") from None
    first = head.split(b"\n", 1)[0]
    if not full.endswith(_BYTECODE) and b"\0" in head:
        raise NoProgram(f"{name} is a binary file, not a Python script.")
    if first.startswith(b"#!") and b"python" not in first and not full.endswith((".py", _BYTECODE)):
        raise NoProgram(f"{name} is a script for {first[2:].decode(errors='replace').strip()}, not Python.")
    return Program("script", name, args, full)


def runner(program: Program) -> Callable[[], None]:
    """Set the interpreter up as if it had been started on this program; what is returned runs it.

    A script is compiled here, so a syntax error shows before anything else happens.
    """
    # Python joins without tidying up: `./a/../b.py` stays as it is.
    full = os.path.join(os.getcwd(), program.name)
    sys.argv[:] = [program.name, *program.args]
    if program.kind == "module":
        sys.argv[0] = "-m"
        _first_path(os.getcwd())
        _fresh_main()
        return lambda: _run_module(program.name)
    if program.kind == "container":
        sys.path[:] = [full, *sys.path[_ours() :]]
        _fresh_main()
        return _run_container
    code = _compiled(full)
    _first_path(os.path.dirname(os.path.realpath(full)))
    names = _fresh_main().__dict__
    loader = SourcelessFileLoader if full.endswith(_BYTECODE) else SourceFileLoader
    names.update(__loader__=loader("__main__", full), __file__=full, __cached__=None)
    return lambda: _run_code(code, names)


# Three functions, so that their frames can be distinguished from the program's own.
def _run_code(code: CodeType, names: dict[str, object]) -> None:
    exec(code, names)


def _run_module(name: str) -> None:
    runpy._run_module_as_main(name)  # type: ignore[attr-defined]


def _run_container() -> None:
    runpy._run_module_as_main("__main__", False)  # type: ignore[attr-defined]


def _ours() -> int:
    """How many entries of `sys.path` are there because traindx was started, not the program."""
    return 0 if sys.flags.safe_path else 1


def _first_path(folder: str) -> None:
    if not sys.flags.safe_path:
        sys.path[:1] = [folder]


def _fresh_main() -> ModuleType:
    """A `__main__` with what the interpreter puts into it, in the same order."""
    main = ModuleType("__main__")
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    vars(main)["__builtins__"] = builtins
    sys.modules["__main__"] = main
    return main


def _compiled(path: str) -> CodeType:
    if path.endswith(_BYTECODE):
        code = SourcelessFileLoader("__main__", path).get_code("__main__")
        assert code is not None
        return code
    with io.open_code(path) as file:
        return compile(file.read(), path, "exec", dont_inherit=True)
