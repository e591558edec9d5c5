"""Settings of trainers that run the loop themselves, changed in the call that takes them."""

from __future__ import annotations

import ast

from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.lightning_cli import set_in_cli
from traindx.experiment.edit.names import imported, spelled_as
from traindx.experiment.edit.new_number import NewNumber
from traindx.experiment.edit.nodes import argument_node
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.value_origin import change
from traindx.source.trainer_settings import TrainerSetting, trainer_setting
from traindx.source.values import Const, Made


def set_in_trainer(job: Job, name: str, new_number: NewNumber, like: str = "") -> str:
    """The trainer's setting of that name, a number; empty when no trainer of the script takes it."""
    setting = trainer_setting(job.training.trace, name)
    if setting is None:
        return set_in_cli(job, name, new_number)
    default = setting.default if isinstance(setting.default, float) else None
    like = like or rf"{setting.keyword}$|{name}$"
    return change(job, setting.call, setting.keyword, -1, new_number, like, default) + "."


def write_in_trainer(job: Job, setting: TrainerSetting, text: str) -> str:
    """A trainer's setting that is a word or a truth value."""
    call = call_of(setting.call)
    old = argument_node(call, setting.keyword, -1)
    is_plain = isinstance(old, ast.Constant) or (isinstance(old, ast.Attribute) and old.attr.isupper())
    if setting.call.open or not (old is None or is_plain):
        raise Uncertain(f"Set {setting.keyword} to {text} in line {call.lineno}.", setting.call.spot)
    if word_of(setting) == text.strip('"'):
        raise Uncertain(f"{setting.keyword} is {text} already in line {call.lineno}.", setting.call.spot)
    job.draft.keyword(call, setting.keyword, text)
    return f"{setting.keyword}={text} in line {call.lineno}"


def word_of(setting: TrainerSetting) -> str:
    """What a setting says where it is a word, else its default."""
    value = setting.value
    if isinstance(value, Const):
        return str(value.value)
    name = getattr(value, "name", "")
    return name.rpartition(".")[2].lower() if value is not None and name else str(setting.default)


def framework_name(job: Job, near: ast.AST, name: str) -> str:
    """`lightning.pytorch.callbacks.EarlyStopping` as the file of a node would write it."""
    imports = imported(job.file(near))
    tail = name.partition(".")[2]
    if name.startswith("lightning."):
        old = any(imported_name.startswith("pytorch_lightning") for imported_name in imports)
        roots = ("pytorch_lightning",) if old else ("lightning", "lightning.pytorch")
        for root in roots:
            text = spelled_as(imports, f"{root}.{tail}")
            if text is not None:
                return text
        name = f"{'pytorch_lightning' if old else 'lightning.pytorch'}.{tail}"
    text = spelled_as(imports, name)
    if text is None:
        module, _, text = name.rpartition(".")
        job.draft.add_import(near, f"from {module} import {text}")
    return text


def add_to_list(job: Job, trainer: Made, keyword: str, new: str) -> str:
    """One more element in a list that a call takes."""
    call = call_of(trainer)
    argument = argument_node(call, keyword, -1)
    if argument is None and not trainer.open:
        job.draft.keyword(call, keyword, f"[{new}]")
    elif isinstance(argument, ast.List) and argument.elts:
        job.draft.wrap(argument.elts[-1], "", f", {new}")
    elif isinstance(argument, ast.List):
        job.draft.replace(argument, f"[{new}]")
    elif isinstance(argument, ast.Name | ast.Attribute):
        job.draft.replace(argument, f"[*{job.draft.text(argument)}, {new}]")
    else:
        raise Uncertain(f"Give {new} to the {keyword} of line {call.lineno}.", trainer.spot)
    return f"{new} in the {keyword} of line {call.lineno}"
