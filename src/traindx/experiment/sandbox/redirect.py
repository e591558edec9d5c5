"""The functions by which Python opens and changes files, redirected by a guard."""

from __future__ import annotations

import builtins
import functools
import io
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

from traindx.experiment.sandbox.guard import Guard, of_descriptor
from traindx.observe.import_hook import when_imported

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_READ = "access chdir getxattr listdir listxattr lstat pathconf readlink scandir stat statvfs".split()
# The file itself changes, or only its name.
_WRITE = ("chmod", "chown", "removexattr", "setxattr", "truncate", "utime")
_WRITE_NAME = ("lchown", "mkdir", "mkfifo", "mknod", "remove", "unlink")
_MOVE = ("rename", "replace")
_ABILITIES = (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids)


def redirect(guard: Guard) -> None:
    """Put all of them in place; functions that are built on these follow by themselves."""
    removes = os.unlink
    _replace_open(guard)
    _replace(os, "open", _os_open(guard))
    for names, mapped in (
        (_READ, guard.read),
        (_WRITE, guard.write),
        (_WRITE_NAME, functools.partial(guard.write, follow=False)),
    ):
        for name in names:
            _replace(os, name, _mapping(mapped, _FIRST))
    _replace(os, "chdir", _chdir(guard))
    _replace(os, "rmdir", _mapping(guard.empty, _FIRST))
    for name in _MOVE:
        _replace(os, name, _mapping(functools.partial(guard.write, follow=False), *_BOTH))
    _replace(os, "link", _mapping(guard.write, *_BOTH))
    _replace(os, "symlink", _mapping(functools.partial(guard.write, follow=False), _SECOND))
    _replace(shutil, "rmtree", _mapping(guard.empty, _FIRST))
    _replace_popen(guard)
    _replace_kept(removes)
    when_imported("tarfile", lambda module: setattr(module, "bltn_open", builtins.open))
    when_imported("sqlite3", lambda module: _sqlite(guard, module))
    when_imported("torch.serialization", lambda module: _torch(guard, module))
    when_imported("torch.jit", lambda module: _replace(module, "save", _mapping(guard.write, _SECOND)))
    when_imported("h5py", lambda module: _replace_writer(guard, module.File))
    for name in ("safetensors", "safetensors.torch", "safetensors.numpy"):
        when_imported(name, lambda module: _replace(module, "serialize_file", _mapping(guard.write, _SECOND)))
    when_imported("cv2", lambda module: _replace(module, "imwrite", _mapping(guard.write, _FIRST)))


Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def _replace(module: Any, name: str, wrap: Wrap) -> None:
    original = getattr(module, name, None)
    if original is None:
        return
    replacement = functools.wraps(original)(wrap(original))
    # By these, pickle finds the function.
    replacement.__module__, replacement.__qualname__ = module.__name__, name
    for ability in _ABILITIES:
        if original in ability:
            ability.add(replacement)
    setattr(module, name, replacement)


def _from_folder(path: Any, kwargs: dict[str, Any], key: str = "dir_fd") -> Any:
    """The whole of a path that is given from an open folder; `kwargs` no longer says from which."""
    if kwargs.get(key) is None or isinstance(path, int):
        return path
    folder = of_descriptor(kwargs[key])
    if not folder:
        return path
    del kwargs[key]
    return os.path.join(os.fsencode(folder) if isinstance(path, bytes) else folder, path)


# An argument that is a path: its position, the names it may be given by, and the folder it is relative to.
_PathArgument = tuple[int, tuple[str, ...], str]
_FIRST: _PathArgument = (0, ("path",), "dir_fd")
_SECOND: _PathArgument = (1, ("dst", "filename", "f"), "dir_fd")
_BOTH: tuple[_PathArgument, ...] = ((0, ("src",), "src_dir_fd"), (1, ("dst",), "dst_dir_fd"))


def _mapping(mapped: Callable[[Any], Any], *arguments: _PathArgument) -> Wrap:
    """The function with these of its arguments mapped."""

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def replacement(*args: Any, **kwargs: Any) -> Any:
            words = list(args)
            for position, names, key in arguments:
                if position < len(words):
                    words[position] = mapped(_from_folder(words[position], kwargs, key))
                for name in names if position >= len(args) else ():
                    if name in kwargs:
                        kwargs[name] = mapped(_from_folder(kwargs[name], kwargs, key))
            return original(*words, **kwargs)

        return replacement

    return wrap


def _chdir(guard: Guard) -> Wrap:
    """Into the copy of a folder: what programs started from there write is in the copy, too."""

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def replacement(path: Any) -> None:
            original(path if path in (os.sep, b"/") else guard.enter(path))

        return replacement

    return wrap


def _os_open(guard: Guard) -> Wrap:
    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def replacement(path: Any, flags: int, mode: int = 0o777, **kwargs: Any) -> int:
            path = _opened(guard, _from_folder(path, kwargs), flags)
            descriptor: int = original(path, flags, mode, **kwargs)
            return descriptor

        return replacement

    return wrap


def _opened(guard: Guard, path: Any, flags: int) -> Any:
    if not flags & _WRITES:
        return guard.read(path)
    # A file that must not be there yet is kept as it is, and found to be there.
    return guard.write(path, keep=not flags & os.O_TRUNC or bool(flags & os.O_EXCL))


def _replace_kept(removes: Callable[..., Any]) -> None:
    """Temporary files keep the function that removes them as a default of their methods."""
    for method in vars(tempfile._TemporaryFileCloser).values():  # type: ignore[attr-defined]
        defaults = getattr(method, "__defaults__", None)
        if defaults and removes in defaults:
            method.__defaults__ = tuple(os.unlink if default is removes else default for default in defaults)


def _replace_open(guard: Guard) -> None:
    original = builtins.open

    def replacement(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        opener = args[5] if len(args) > 5 else kwargs.get("opener")
        if isinstance(mode, str) and (opener is None or (isinstance(file, str) and os.path.isabs(file))):
            if not set(mode) & set("wxa+"):
                file = guard.read(file)
            else:
                file = guard.write(file, keep="w" not in mode)
        return original(file, mode, *args, **kwargs)

    replacement = functools.wraps(original)(replacement)
    replacement.__module__, replacement.__qualname__ = "io", "open"
    builtins.open = replacement
    io.open = replacement


def _replace_popen(guard: Guard) -> None:
    """Programs get the path of the copy wherever they are given the user's folder."""
    begin = subprocess.Popen.__init__
    led = _led(guard)

    @functools.wraps(begin)
    def replacement(self: Any, args: Any, *rest: Any, **kwargs: Any) -> None:
        if kwargs.get("cwd") is not None:
            kwargs["cwd"] = guard.enter(kwargs["cwd"])
        if isinstance(args, (list, tuple)) and args:
            args = [args[0], *map(led, args[1:])]
        elif isinstance(args, str):
            args = led(args)
        begin(self, args, *rest, **kwargs)

    subprocess.Popen.__init__ = replacement  # type: ignore[method-assign]
    _replace(os, "system", lambda original: lambda command: original(led(command)))


def _led(guard: Guard) -> Callable[[Any], Any]:
    """A word of a command line, with the copy in place of the user's folder."""
    root = guard.overlay.root
    names = "|".join(re.escape(folder) for folder in guard.mirrors if folder != os.sep)
    # A whole path, not the start of another name nor the end of a longer path.
    folders = re.compile(rf"(?<![\w./-])(?:{names})(?![\w.-])") if names else None

    def led(word: Any) -> Any:
        if folders is None or not isinstance(word, str):
            return word
        return folders.sub(lambda match: root + match[0], word)

    return led


def _sqlite(guard: Guard, module: Any) -> None:
    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def replacement(database: Any, *args: Any, **kwargs: Any) -> Any:
            if kwargs.get("uri") and isinstance(database, str) and database.startswith("file:"):
                name, mark, query = database.removeprefix("file:").partition("?")
                database = f"file:{guard.write(name)}{mark}{query}"
            elif database != ":memory:":
                database = guard.write(database)
            return original(database, *args, **kwargs)

        return replacement

    _replace(module, "connect", wrap)


def _torch(guard: Guard, module: Any) -> None:
    """torch's own writer of archives is in C++."""
    _replace_writer(guard, module._open_zipfile_writer_file)


def _replace_writer(guard: Guard, kind: Any) -> None:
    """A class whose first argument is the file it writes, by name or open already."""
    begin = kind.__init__

    @functools.wraps(begin)
    def replacement(self: Any, name: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(name, (str, bytes, os.PathLike)):
            name = guard.write(name)
        begin(self, name, *args, **kwargs)

    kind.__init__ = replacement
