"""The task: the run, the model, the data, the objective, and the scores of constant answers."""

from __future__ import annotations

import math
import os
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from traindx.core.facts import Fact, facts, number, word
from traindx.core.kinds import BY_CLASS, BY_SIGN, loss_kind
from traindx.core.nouns import Diagnosis
from traindx.core.number_text import count as rounded
from traindx.evidence.case import Case
from traindx.evidence.phase import phase_text
from traindx.report.brief.facts import BriefFact
from traindx.report.document import DocumentTable, TableColumn
from traindx.report.places import from_here, program_words
from traindx.report.summary import epochs_completed, run_facts
from traindx.report.text import count, first_names, lasting, percent, short, value_text, visible

_SETTINGS_SHOWN = 14
_CLASSES_SHOWN = 4
_ROWS_MOST = 500
# What the lines about model, data and optimizer say already.
_SAID = frozenset(
    "model model_parameters trainable_parameters layers train_samples batch_size workers world_size "
    "loss_function optimizer lr weight_decay momentum beta1 beta2 eps dropout".split()
)


def task_facts(case: Case, diagnosis: Diagnosis) -> Iterator[BriefFact]:
    """In this order: run, model, data, objective, other settings, chance."""
    yield _run(case, diagnosis)
    yield from _models(case)
    yield from _data(case)
    yield from _objective(case)
    yield from _settings(case)
    yield from _chance(case)


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> DocumentTable | None:
    """Plain cells under their heads; None without rows."""
    if not rows:
        return None
    columns = tuple(
        TableColumn(head, "right") if _numbers(row[at] for row in rows) else TableColumn(head, wrap=True)
        for at, head in enumerate(heads)
    )
    return DocumentTable(columns, tuple(tuple(map(_cell, row)) for row in rows[:_ROWS_MOST]))


def _numbers(cells: Iterable[object]) -> bool:
    return all(cell is None or isinstance(cell, int | float) for cell in cells)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return short(value) if isinstance(value, float) else visible(str(value), 120)


def _run(case: Case, diagnosis: Diagnosis) -> BriefFact:
    run, known = case.run, case.run.facts
    rows = [("read from", run.path), *run_facts(run), ("evidence", ", ".join(diagnosis.evidence))]
    read = dict(run_facts(run)).get("format", "")
    parts = [f"recording of {visible(program_of(case), 120)}" if case.inside.recorded else f"log of {read}"]
    if run.phase is not None:
        parts.append(phase_text(run))
    elif run.last_step is not None:
        planned = f" of {short(case.planned_steps)} planned" if case.planned_steps else ""
        parts.append(f"{run.axis} {short(run.last_step)}{planned}")
    if (epochs := epochs_completed(case)) is not None and run.axis != "epoch":
        parts.append(count(epochs, "epoch"))
    parts += list(_circumstances(known))
    parts += [f"kind: {', '.join(sorted(run.traits))}"] if run.traits else []
    return BriefFact("run", "; ".join(parts), 10, table=table(("", ""), rows))


def program_of(case: Case) -> str:
    """The command line behind `python`, with paths from here."""
    return shlex.join(map(from_here, program_words(case.run)))


def _circumstances(facts: Mapping[str, object]) -> Iterator[str]:
    """How long it took, and with what."""
    overhead, libraries, seed = (facts.get(name) for name in ("overhead", "libraries", "seed"))
    if isinstance(overhead, Mapping) and (seconds := number(overhead, "seconds")):
        yield lasting(seconds)
    if isinstance(libraries, Mapping):
        names = [name for name in ("torch", "keras", "jax") if isinstance(libraries.get(name), str)]
        yield from (f"{name} {visible(libraries[name], 20)}" for name in names[:1])
    if isinstance(seed, Mapping) and seed.get("set") is False:
        yield "no seed set"


def _models(case: Case) -> Iterator[BriefFact]:
    for model in case.inside.models[:3]:
        parameters, trained = number(model, "parameters"), number(model, "trainable")
        layers = facts(model.get("layer_list"))
        kinds = Counter(word(layer, "type") for layer in layers).most_common(5)
        parts = [f"{word(model, 'class') or 'model'}, {rounded(parameters or 0)} parameters"]
        if parameters and trained is not None and trained < parameters:
            parts.append(f"{percent(trained / parameters)} of them trained")
        parts.append(", ".join(f"{name} {number}" for name, number in kinds))
        if activations := model.get("activations"):
            parts.append(", ".join(activations) if isinstance(activations, Mapping) else "")
        parts.append(_dropout(model))
        heads = ("layer", "type", "shape", "parameters", "initial std", "gain")
        rows = [
            (
                layer.get("name"),
                layer.get("type"),
                layer.get("shape"),
                layer.get("parameters"),
                *_initial(layer),
            )
            for layer in layers
        ]
        text = "; ".join(part for part in parts if part)
        yield BriefFact("model", text, 8, table=table(heads, rows))


def _initial(layer: Fact) -> tuple[float | None, float | None]:
    start = layer.get("init")
    return (number(start, "std"), number(start, "gain")) if isinstance(start, Mapping) else (None, None)


def _dropout(model: Fact) -> str:
    rates = model.get("dropout")
    numbers = [rate for rate in rates if isinstance(rate, float)] if isinstance(rates, list | tuple) else []
    return f"dropout {', '.join(map(short, dict.fromkeys(numbers)))}" if numbers else ""


def _data(case: Case) -> Iterator[BriefFact]:
    loaders = case.inside.loaders
    columns = ("role", "dataset", "samples", "batch_size", "workers")
    loader_counts = Counter(tuple(loader.get(column) for column in columns) for loader in loaders)
    parts = [_loader(loader) for loader in loaders[:4] if number(loader, "samples")]
    samples = case.inside.fact("samples")
    if features := number(samples, "features"):
        kind = samples.get("input")
        dtype = word(kind, "dtype") if isinstance(kind, Mapping) else ""
        parts.append(f"{features:,.0f} numbers a sample {dtype}".rstrip())
    if parts:
        heads = ("role", "data set", "samples", "batch", "workers", "loaders")
        rows = [(*loader, times) for loader, times in loader_counts.items()]
        yield BriefFact("data", "; ".join(dict.fromkeys(parts)), 9, table=table(heads, rows))
    shares = case.task.class_shares
    if shares:
        common = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
        largest = ", ".join(f"{name}: {percent(share)}" for name, share in common[:_CLASSES_SHOWN])
        rest = f", least {common[-1][0]}: {percent(common[-1][1])}" if len(common) > _CLASSES_SHOWN else ""
        text = f"{count(len(shares), 'class', 'classes')} among sampled targets ({largest}{rest})"
        yield BriefFact("classes", text, 7, table=table(("class", "share"), common))
    read = facts(case.run.facts.get("files_read"))
    if read:
        names = [os.path.basename(word(file, "path")) for file in read]
        opened = [(word(file, "path"), file.get("size"), file.get("line")) for file in read]
        listed = table(("file", "bytes", "opened at"), opened)
        yield BriefFact("files read", first_names(names, 4), 4, table=listed)


def _loader(loader: Fact) -> str:
    samples, batch = number(loader, "samples") or 0, number(loader, "batch_size")
    order = "" if loader.get("shuffle") or loader.get("role") != "training" else ", not shuffled"
    sizes = f" in batches of {batch:,.0f}" if batch else ""
    return f"{samples:,.0f} {word(loader, 'role')} samples{sizes}{order}"


def _objective(case: Case) -> Iterator[BriefFact]:
    for loss in case.inside.losses[:3]:
        name = word(loss, "function") or word(loss, "class") or "loss"
        shapes = f"outputs {loss.get('output_shape', '?')} against targets {loss.get('target_shape', '?')}"
        ends = loss.get("after_layers")
        behind = f", after {ends[0]}" if isinstance(ends, list) and ends else ""
        odd = ", broadcast" if loss.get("broadcasts") else ""
        text = f"{name} ({word(loss, 'reduction') or '?'}), {shapes}{odd}{behind}"
        yield BriefFact("loss function", text, 7, ("loss",))
    settings = case.run.settings
    names = ("lr", "momentum", "weight_decay", "beta1", "beta2", "eps", "clip", "warmup_steps")
    if optimizer := settings.get("optimizer"):
        parts = [f"{name} {value_text(settings[name])}" for name in names if settings.get(name) is not None]
        schedule = [word(scheduler, "class") for scheduler in case.inside.schedulers] or [
            case.word("schedule")
        ]
        parts += [f"schedule {name}" for name in schedule if name]
        series = ("lr",) if case.lr is not None else ()
        yield BriefFact("optimizer", f"{optimizer}, {', '.join(parts)}", 8, series)


def _settings(case: Case) -> Iterator[BriefFact]:
    """The settings that the lines above do not already give."""
    recorded = case.inside.recorded
    reported = _SAID if recorded else frozenset({"optimizer"} if case.run.settings.get("optimizer") else ())
    settings = [(key, value) for key, value in case.run.settings.items() if value is not None]
    fresh = [(key, value_text(value)) for key, value in settings if key not in reported]
    if fresh:
        listed = ", ".join(f"{key} {visible(value, 40)}" for key, value in fresh[:_SETTINGS_SHOWN])
        yield BriefFact("settings", listed, 6, table=table(("setting", "value"), settings))


def _chance(case: Case) -> Iterator[BriefFact]:
    task, parts, names = case.task, [], list[str]()
    levels = sorted({float(f"{level:.4g}") for level in task.constant_losses})
    if levels:
        parts.append(f"loss of a constant answer {' or '.join(map(short, levels))}")
        names.append("loss")
    elif task.known_chances:
        parts += [f"loss {short(chance.level)}, {chance.why}" for chance in task.known_chances[:1]]
    elif task.classes is not None:
        even = math.log(task.classes)
        parts.append(f"loss {short(even)} (ln {task.classes}), as the first values of the curves suggest")
    shares = task.class_shares
    kinds = [loss_kind(loss) for loss in case.inside.losses]
    if len(shares) > 1 and any(kind in BY_CLASS or kind in BY_SIGN for kind in kinds):
        accuracy = float(f"{max(shares.values()):.3g}")
        parts.append(f"accuracy of always the most common class {short(accuracy)}")
    if parts:
        yield BriefFact("chance", "; ".join(parts), 9, tuple(names))
