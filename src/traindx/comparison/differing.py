"""What differs between runs: settings, data, environment; what counts, and what follows from another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from traindx.comparison.subjects import Subject
from traindx.core.names import METRICS, understand
from traindx.core.nouns import Scalar

Group = Literal[
    "optimisation",
    "length",
    "model",
    "loss",
    "data",
    "machine",
    "other",
    "seed",
    "environment",
    "bookkeeping",
]
GROUPS: tuple[Group, ...] = get_args(Group)
_KNOWN: dict[str, Group] = {
    **dict.fromkeys(
        "lr min_lr optimizer momentum beta1 beta2 eps weight_decay clip schedule warmup warmup_ratio "
        "batch_size accumulation".split(),
        "optimisation",
    ),
    **dict.fromkeys("epochs max_steps".split(), "length"),
    **dict.fromkeys(
        "model layers width dropout model_parameters trainable_parameters vocab_size".split(), "model"
    ),
    **dict.fromkeys("train_samples val_samples train_tokens classes".split(), "data"),
    **dict.fromkeys("loss_function label_smoothing".split(), "loss"),
    **dict.fromkeys("precision fp16 bf16 device world_size workers eval_batch_size".split(), "machine"),
    "seed": "seed",
}
# Words of configuration keys, asked in this order.
_WORDED: tuple[tuple[Group, frozenset[str]], ...] = (
    ("seed", frozenset("seed seeds".split())),
    (
        "data",
        frozenset(
            "data dataset datasets split augment augmentation transform crop mixup tokenizer "
            "tokens samples shuffle".split()
        ),
    ),
    (
        "bookkeeping",
        frozenset(
            "name eval script dir directory path file folder id uuid time timestamp date started host "
            "hostname user project entity group tag tags notes log logs logging logger wandb "
            "output save saving checkpoint ckpt version pid port resume verbose print every "
            "interval report root commit git rank_id experiment exp cwd command argv total_flos "
            "log_history runtime".split()
        ),
    ),
    (
        "model",
        frozenset(
            "model layer layers hidden heads head embed embedding dim channels kernel activation "
            "norm init depth width dropout bias residual arch".split()
        ),
    ),
    (
        "optimisation",
        frozenset("lr optim optimizer momentum beta decay clip schedule warmup gamma batch".split()),
    ),
)
# What changes by itself when another setting does.
_FOLLOWS: dict[str, tuple[str, ...]] = {
    "model_parameters": ("model", "layers", "width", "vocab_size", "classes"),
    "trainable_parameters": ("model", "layers", "width", "vocab_size", "classes", "model_parameters"),
    "max_steps": ("batch_size", "accumulation", "world_size", "epochs", "train_samples"),
    "warmup": ("warmup_ratio", "max_steps", "epochs"),
    "eval_batch_size": ("batch_size",),
    "layers": ("model",),
    "min_lr": ("lr",),
    "momentum": ("optimizer",),
    "beta1": ("optimizer",),
    "beta2": ("optimizer",),
    "eps": ("optimizer",),
    "fp16": ("precision",),
    "bf16": ("precision",),
}
_RESULTS = frozenset(
    "epoch global_step step total_flos num_input_tokens_seen train_runtime runtime train_loss elapsed "
    "train_steps_per_second train_samples_per_second".split()
)
# Changes that leave what is learnt alone.
_HARMLESS = frozenset({"workers", "eval_batch_size"})


@dataclass(frozen=True)
class Differing:
    """One thing that is not the same in all runs.

    `values` has one entry per run, None where it is not known. `counts` is False for what is no cause:
    the seed, bookkeeping, what follows from another change, what is known of some runs only.
    """

    key: str
    group: Group
    values: tuple[str | None, ...]
    counts: bool
    why: str = ""

    @property
    def distinct(self) -> list[str]:
        return list(dict.fromkeys(value for value in self.values if value is not None))


def differing(runs: Sequence[Subject]) -> list[Differing]:
    """Everything known of the runs that is not the same in all of them, what counts first."""
    tables = [{**_plain(run.settings), **_surroundings(run)} for run in runs]
    keys = list(dict.fromkeys(key for table in tables for key in table))
    varying: list[tuple[str, Group, tuple[str | None, ...]]] = []
    for key in keys:
        values = tuple(table[key][0] if key in table else None for table in tables)
        alike = {table[key][1] for table in tables if key in table}
        if len(alike) > 1 or (len(alike) == 1 and None in values and len(runs) > 1):
            varying.append((key, _group(key, values), values))
    changed = {key for key, _, values in varying if len({v for v in values if v is not None}) > 1}
    differences = [_difference(key, group, values, changed) for key, group, values in varying]
    return sorted(differences, key=lambda difference: (not difference.counts, GROUPS.index(difference.group)))


def _difference(key: str, group: Group, values: tuple[str | None, ...], changed: set[str]) -> Differing:
    def no(why: str) -> Differing:
        return Differing(key, group, values, False, why)

    if key not in changed:
        known_count = sum(value is not None for value in values)
        return no(f"known of {known_count} of {len(values)} runs only")
    if group in ("seed", "environment", "bookkeeping"):
        return no("")
    if key in _HARMLESS:
        return no("does not change what is learnt")
    for source in _FOLLOWS.get(key, ()):
        if source in changed:
            return no(f"follows from {source}")
    return Differing(key, group, values, True)


def _plain(settings: Mapping[str, Scalar]) -> dict[str, tuple[str, object]]:
    """As it is shown, and as it is compared: `1e-3` is 0.001, `torch.optim.Adam` is adam."""
    return {key: (shown(value), compared_value(value)) for key, value in settings.items()}


def shown(value: Scalar) -> str:
    """A setting as it is printed."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def compared_value(value: Scalar) -> object:
    if isinstance(value, bool):
        return value
    text = str(value).strip()
    try:
        return float(f"{float(text):.6g}")
    except ValueError:
        pass
    low = text.lower()
    if low in ("true", "false"):
        return low == "true"
    return low.rsplit(".", 1)[-1] if re.fullmatch(r"[a-z_][\w.]*", low) else low


def _group(key: str, values: Sequence[str | None]) -> Group:
    if key in _KNOWN:
        return _KNOWN[key]
    if _is_result(key, values):
        return "bookkeeping"
    if key.startswith(("environment: ", "data: ")):
        return "environment" if key.startswith("env") else "data"
    words = set(re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()))
    return next((group for group, group_words in _WORDED if words & group_words), "other")


def _is_result(key: str, values: Sequence[str | None]) -> bool:
    """What a training came to is no setting of it, though some logs keep both together."""
    last = re.split(r"[./]", key.lower())[-1]
    if key.lower().startswith("summary.") or last in _RESULTS or last.startswith("best_"):
        return True
    metric = METRICS.get(understand(last).metric)
    measured = metric is not None and (metric.goal != "none" or last.endswith(("_per_second", "runtime")))
    return measured and all(value is None or _number(value) for value in values)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _surroundings(run: Subject) -> dict[str, tuple[str, object]]:
    """What a recording says of the machine and the data."""
    facts = run.run.facts
    settings: dict[str, Scalar] = {}
    libraries = facts.get("libraries")
    pairs: Iterable[tuple[str, object]] = [("python", facts.get("python")), ("host", facts.get("host"))]
    if isinstance(libraries, Mapping):
        pairs = [*pairs, *libraries.items()]
    for key, value in pairs:
        if isinstance(value, str | int | float | bool) and value != "":
            settings[f"environment: {key}"] = value
    loader = _training_loader(facts.get("loaders"))
    for key in ("dataset", "samples", "shuffle", "drop_last", "sampler"):
        value = loader.get(key)
        if isinstance(value, str | int | float | bool):
            settings[f"data: {key}"] = value
    return _plain(settings)


def _training_loader(loaders: object) -> Mapping[str, object]:
    if not isinstance(loaders, list):
        return {}
    mappings = [loader for loader in loaders if isinstance(loader, Mapping)]
    return next(
        (loader for loader in mappings if loader.get("role") == "training"), mappings[0] if mappings else {}
    )
