"""LightningCLI: settings in its YAML file, or on the command line as `--trainer.max_epochs 3`."""

from __future__ import annotations

import os
import re
from typing import Any

from traindx.experiment.edit import configs
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.new_number import NewNumber
from traindx.experiment.edit.options import CommandOption, given_value, with_value
from traindx.source.values import Const, DictValue, ListValue, Made, Value

_CONFIG = CommandOption(("--config", "-c"), None)
_TRAINER = {"clip": "gradient_clip_val", "accumulation": "accumulate_grad_batches", "epochs": "max_epochs"}
_LEAVES = {"lr": ("lr", "learning_rate"), "learning_rate": ("lr", "learning_rate")}


def cli_of(job: Job) -> Made | None:
    """The call of LightningCLI."""
    calls = (e.value for e in job.training.trace.calls if e.value.short == "LightningCLI")
    return next(calls, None)


def set_in_cli(job: Job, name: str, new_number: NewNumber) -> str:
    """A number that LightningCLI reads: on the command line, else in its file; empty in neither case."""
    cli = cli_of(job)
    if cli is None:
        return ""
    names = _LEAVES.get(name, (_TRAINER.get(name, name),))
    args = job.draft.args or job.args
    flags = [
        word.partition("=")[0] for word in args if re.match(rf"--([\w.]+\.)?({'|'.join(names)})(=|$)", word)
    ]
    value_at = given_value(args, CommandOption(tuple(flags), None)) if flags else None
    if value_at is not None:
        return _on_command_line(job, args, value_at, flags[-1], new_number)
    for path in _files(job, cli, args):
        description = _in_file(job, path, name, names, new_number)
        if description:
            return description
    return ""


def _on_command_line(job: Job, args: Any, value_at: tuple[int, str], flag: str, new_number: NewNumber) -> str:
    index, text = value_at
    try:
        new = new_number.literal(float(text), text)
    except ValueError:
        return ""
    job.draft.args = with_value(args, index, new)
    return f"{flag} {text} -> {new} on the command line."


def _files(job: Job, cli: Made, args: Any) -> list[str]:
    """The configuration files, the one that is read last first."""
    lines = (args, _texts(cli.keywords.get("args")))
    names = [value_at[1] for words in lines if (value_at := given_value(words, _CONFIG)) is not None]
    options = cli.keywords.get("parser_kwargs")
    defaults = options.items.get("default_config_files") if isinstance(options, DictValue) else None
    names += _texts(defaults)
    folders = (job.folder, os.path.dirname(job.script.main.path))
    paths = [os.path.join(folder, name) for name in names for folder in folders]
    return list(dict.fromkeys(os.path.realpath(path) for path in paths if os.path.isfile(path)))


def _texts(value: Value | None) -> list[str]:
    items = value.items if isinstance(value, ListValue) else []
    return [str(item.value) for item in items if isinstance(item, Const)]


def _in_file(job: Job, path: str, name: str, names: tuple[str, ...], new_number: NewNumber) -> str:
    try:
        text = job.config(path)
        tree = configs.parsed(path, text)
    except (OSError, ValueError):
        return ""
    leaves = [keys for keys, value in configs.leaves(tree) if keys and keys[-1] in names and _number(value)]
    if len(leaves) == 1:
        old = configs.looked_up(tree, leaves[0])
        new = configs.yaml_number(new_number.literal(float(old)))
        changed = configs.with_setting(path, text, leaves[0], new)
        keys_text = ".".join(map(str, leaves[0]))
        words = f"{keys_text} {old:g} -> {new} in {os.path.basename(path)}."
    elif not leaves and name in _TRAINER and new_number.factor is None:
        new = configs.yaml_number(new_number.literal(0.0))
        changed = configs.with_new_setting(path, text, ("trainer", _TRAINER[name]), new)
        words = f"trainer.{_TRAINER[name]}: {new} in {os.path.basename(path)}."
    else:
        return ""
    if changed is None:
        return ""
    job.draft.config(path, text, changed)
    return words


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
