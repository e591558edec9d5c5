"""What the validation value decides: a lower learning rate, the end of the training."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import value_of
from traindx.experiment.edit.evaluation_values import evaluation_value, model_at, optimizer_at
from traindx.experiment.edit.job import Job, call_of, once
from traindx.experiment.edit.keras import add_callback, fits, uses_keras
from traindx.experiment.edit.new_number import plain
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.trainers import add_to_list, framework_name, word_of, write_in_trainer
from traindx.source.trainer_settings import TrainerSetting, trainer_calls
from traindx.source.trainers import is_transformers
from traindx.source.values import Const


def stop_early(job: Job, values: Mapping[str, Scalar]) -> str:
    """The best weights are kept, and the loop ends after some evaluations that are not better."""
    patience = int(value_of(values, "patience", 5))
    if uses_keras(job):
        return add_callback(
            job,
            f'EarlyStopping(monitor="{_monitored(job)}", patience={patience}, restore_best_weights=True)',
        )
    description = _in_trainer(job, patience)
    if description:
        return description
    words = (
        f"Keep the weights with the best validation value, and stop after {patience} evaluations without one."
    )
    value = evaluation_value(job, words)
    if any(isinstance(node, ast.Name) and node.id.startswith("patience") for node in ast.walk(value.loop)):
        raise Uncertain("The script seems to stop early already: check its patience.", value.loop)
    model = model_at(job, value, words)
    best, state, worse = (job.fresh(value.loop, name) for name in ("best", "best_state", "worse"))
    start, sign = ("-", ">") if value.higher_is_better else ("", "<")
    job.draft.before(value.loop, f'{best}, {state}, {worse} = float("{start}inf"), None, 0')
    job.draft.after(
        value.last,
        f"if {value.name} {sign} {best}:",
        f"    {best}, {worse} = {value.name}, 0",
        f"    {state} = {{key: tensor.clone() for key, tensor in {model}.state_dict().items()}}",
        "else:",
        f"    {worse} += 1",
        f"    if {worse} >= {patience}:",
        "        break",
    )
    job.draft.after(value.loop, f"if {state} is not None:", f"    {model}.load_state_dict({state})")
    return (
        f"The loop of line {value.loop.lineno} ends after {patience} evaluations without a better "
        f"{value.name}, and {model} gets the weights of the best one."
    )


def _in_trainer(job: Job, patience: int) -> str:
    """The callback of Lightning or transformers that stops early; empty without such a trainer."""
    calls = dict(trainer_calls(job.training.trace))
    if "lightning" in calls:
        metric = _logged(job)
        if metric is None:
            raise Uncertain("Log a validation loss in validation_step, and stop on it by EarlyStopping.")
        name = framework_name(job, call_of(calls["lightning"]), "lightning.pytorch.callbacks.EarlyStopping")
        stopping = f'{name}(monitor="{metric}", patience={patience})'
        return add_to_list(job, calls["lightning"], "callbacks", stopping) + "."
    trainers = [e.value for e in job.training.trace.calls if is_transformers(e.value)]
    trainers += [e.value for e in job.training.trace.calls if is_transformers(e.value.receiver)]
    if "transformers" not in calls or len(trainers) != 1:
        return ""
    arguments = calls["transformers"]
    evaluates = arguments.keywords.get("eval_strategy") or arguments.keywords.get("evaluation_strategy")
    if not isinstance(evaluates, Const) or evaluates.value in (None, "no"):
        raise Uncertain("Evaluate each epoch (eval_strategy), and stop by EarlyStoppingCallback.")
    needed_settings = {"save_strategy": f'"{evaluates.value!s}"', "load_best_model_at_end": "True"}
    settings = {
        TrainerSetting("transformers", arguments, name, None): text for name, text in needed_settings.items()
    }
    descriptions = [
        write_in_trainer(job, setting, text)
        for setting, text in settings.items()
        if word_of(setting) != text.strip('"')
    ]
    name = framework_name(job, call_of(trainers[0]), "transformers.EarlyStoppingCallback")
    stopping = f"{name}(early_stopping_patience={patience})"
    return sentence([add_to_list(job, trainers[0], "callbacks", stopping), *descriptions])


def _logged(job: Job) -> str | None:
    """The validation loss that a module logs."""
    logged = [e.value.argument(0, "name") for e in job.training.trace.methods("log") if e.grad_off]
    names = [value.value for value in logged if isinstance(value, Const) and isinstance(value.value, str)]
    return next((name for name in names if "loss" in name), None)


def reduce_on_plateau(job: Job, values: Mapping[str, Scalar]) -> str:
    """A ReduceLROnPlateau on the validation value, in the place of the schedule if there is one."""
    patience, factor = int(value_of(values, "patience", 5)), value_of(values, "factor", 0.1)
    if uses_keras(job):
        new = f'ReduceLROnPlateau(monitor="{_monitored(job)}", factor={plain(factor)}, patience={patience})'
        return add_callback(job, new, "LearningRateScheduler")
    words = f"Step a ReduceLROnPlateau (patience {patience}, factor {factor:g}) with the validation value."
    value = evaluation_value(job, words)
    optimizer = optimizer_at(job, value, words)
    name = job.spelled(value.loop, "torch.optim.lr_scheduler.ReduceLROnPlateau")
    mode = ', mode="max"' if value.higher_is_better else ""
    new = f"{name}({optimizer}{mode}, factor={plain(factor)}, patience={patience})"
    if job.schedulers():
        scheduler = _replace(job, new, words)
    else:
        scheduler = job.fresh(value.loop, "plateau")
        job.draft.before(value.loop, f"{scheduler} = {new}")
    job.draft.after(value.last, f"{scheduler}.step({value.name})")
    return f"lr x {factor:g} after {patience} evaluations without a better {value.name}, by {name}."


def _monitored(job: Job) -> str:
    """The validation loss of a fit that validates, else the training loss."""
    validates = [e for e in fits(job) if {"validation_data", "validation_split"} & set(e.value.keywords)]
    return "val_loss" if len(validates) == len(fits(job)) else "loss"


def _replace(job: Job, new: str, words: str) -> str:
    """The one schedule of the script becomes another, which is stepped elsewhere; its name."""
    schedules, steps = job.schedulers(), job.training.scheduler_steps
    if len(schedules) != 1 or schedules[0].short == "ReduceLROnPlateau":
        raise Uncertain(words, schedules[0].spot)
    call = call_of(schedules[0])
    name = job.bound_name(call)
    if not isinstance(name, ast.Name) or any(event.spot.source is not job.file(call) for event in steps):
        raise Uncertain(words, schedules[0].spot)
    for event in once(steps):
        job.draft.remove(job.own_statement(event.spot.node))
    job.draft.replace(call, new)
    return name.id
