"""Versions of a program: what differs from the user's folder, and what it is called."""

from __future__ import annotations

import filecmp
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from traindx.core import files
from traindx.experiment.edit import Edited, edit_for
from traindx.experiment.edited_arms import unreachable
from traindx.experiment.prove.patching import PatchError, patched
from traindx.experiment.runtime.change import Change, change_specs
from traindx.source.script import Script

_NOTHING = "it changes nothing: both versions are the same"
REMOVED = ""


class NoVersion(ValueError):
    """A version cannot be made; the message is one line for the user."""


class SameVersion(NoVersion):
    """Two versions do not differ."""


@dataclass(frozen=True)
class Version:
    """The program with some things replaced. `files` are paths whose content comes from another file;
    those with `REMOVED` are not there."""

    name: str
    sources: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    args: tuple[str, ...] | None = None
    changes: tuple[Change, ...] = ()

    @property
    def empty(self) -> bool:
        return not (self.sources or self.files or self.changes) and self.args is None


def as_file(script: str, replacement: str) -> Version:
    """Another file in the place of the script."""
    text = _text(replacement)
    if text == _text(script):
        raise NoVersion(f"{replacement}: {_NOTHING}.")
    return Version(os.path.basename(replacement), sources={os.path.realpath(script): text})


def as_patch(path: str, folder: str) -> Version:
    """A unified diff, whose paths count from the folder or from the root of its repository."""
    try:
        texts = patched(_text(path), folder)
    except PatchError as error:
        raise NoVersion(f"{path}: {error}") from None
    if not texts:
        raise NoVersion(f"{path} is no unified diff: it changes no file.")
    changed = {name: text for name, text in texts.items() if text is not None}
    removed = {name: REMOVED for name, text in texts.items() if text is None}
    return Version(os.path.basename(path), sources=changed, files=removed)


def as_arguments(args: Sequence[str], words: str) -> Version:
    """Other arguments: those of the same option, or of the same `key=`, are replaced, others are added."""
    try:
        new = shlex.split(words)
    except ValueError as error:
        raise NoVersion(f"--args {words!r}: {error}.") from None
    groups = _options(new)
    names = {group[0].partition("=")[0] for group in groups}
    old_words = [w for group in _options(args) if group[0].partition("=")[0] not in names for w in group]
    merged = (*old_words, *(word for group in groups for word in group))
    if merged == tuple(args):
        raise NoVersion(f"--args {words!r}: {_NOTHING}.")
    return Version(words, args=merged)


def _options(words: Sequence[str]) -> list[list[str]]:
    """Words grouped by the option they belong to; a positional word is a group of its own."""
    groups: list[list[str]] = []
    for word in words:
        is_option = word.startswith("-") and not _number(word)
        if (
            is_option
            or "=" in word
            or not groups
            or not groups[-1][0].startswith("-")
            or "=" in groups[-1][0]
        ):
            groups.append([word])
        else:
            groups[-1].append(word)
    return groups


def _number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def as_settings(setting: str, script: Script | None, args: Sequence[str]) -> list[Version]:
    """`lr=1e-4,3e-4`: one version for each value of a knob that traindx can turn in this program."""
    name, _, values = (part.strip() for part in setting.partition("="))
    if not name or not values:
        raise NoVersion(f"--set {setting!r} is not of the form knob=value, such as lr=1e-3.")
    return [_setting(name, value.strip(), script, args) for value in values.split(",") if value.strip()]


def _setting(name: str, value: str, script: Script | None, args: Sequence[str]) -> Version:
    knobs = knobs_that_can_be_set()
    if name not in knobs:
        raise NoVersion(f"--set {name}: there is no such knob. There are: {', '.join(knobs)}.")
    id, parameter = knobs[name]
    try:
        change = Change(id, {parameter: value}).checked()
    except ValueError as error:
        raise NoVersion(f"--set {name}={value}: {error}") from None
    if not unreachable(script):
        return Version(f"{name}={value}", changes=(change,))
    assert script is not None
    edit = edit_for(script, change, args=args)
    if not isinstance(edit, Edited):
        raise NoVersion(f"--set {name}={value}: {edit.text}")
    return Version(f"{name}={value}", sources=edit.sources, args=edit.args)


def knobs_that_can_be_set() -> dict[str, tuple[str, str]]:
    """Knob -> the change that sets it, and the name of its one value."""
    knobs: dict[str, tuple[str, str]] = {}
    for spec in change_specs().values():
        required = [name for name, parameter in spec.values.items() if parameter.default is None]
        if spec.id.startswith("set_") and spec.knobs and len(spec.values) == 1:
            knobs.setdefault(spec.id.removeprefix("set_"), (spec.id, next(iter(spec.values))))
        elif len(required) == 1 and len(spec.values) == 1 and spec.knobs:
            knobs.setdefault(spec.id, (spec.id, required[0]))
    return knobs


def as_data(replacement: str, folder: str) -> Version:
    """`train.csv=clean.csv`: one file in the place of another."""
    old, _, new = (part.strip() for part in replacement.partition("="))
    if not old or not new:
        raise NoVersion(f"--file {replacement!r} is not of the form old=new, such as train.csv=clean.csv.")
    paths = [os.path.realpath(os.path.join(folder, name)) for name in (old, new)]
    for name, path in zip((old, new), paths, strict=True):
        if not os.path.isfile(path):
            raise NoVersion(f"--file: there is no file {name}.")
    if filecmp.cmp(paths[0], paths[1], shallow=False):
        raise NoVersion(f"--file {replacement}: {_NOTHING}.")
    return Version(f"{old} = {new}", files={paths[0]: paths[1]})


def _text(path: str) -> str:
    try:
        return files.read(path).decode("utf-8-sig")
    except OSError as error:
        raise NoVersion(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise NoVersion(f"{path} is no UTF-8 text.") from None
