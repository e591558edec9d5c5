"""What a configuration says, in the words the detectors ask with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from traindx.core.nouns import Place, Scalar
from traindx.evidence.case import Case
from traindx.source.anchors import anchor

# The first name found in the optimizer's own name counts: `adamw` holds `adam`, `dadapt_adam` too.
_FAMILIES = (
    "prodigy dadapt adafactor adadelta adagrad lamb lars lion muon sophia rmsprop lbfgs adamw adam sgd"
).split()
ADAPTIVE = frozenset({"adam", "adamw", "rmsprop", "sophia"})
LARGE_RATES = frozenset({"prodigy", "dadapt", "adadelta", "lars", "lbfgs"})
_NOTHING = frozenset({"", "none", "null", "false", "no", "0", "[]", "{}", "scratch"})
_ADAPTER = re.compile(r"lora|peft|adapter")
_PRETRAINED = re.compile(r"pretrained|name_or_path|finetun|fine_tun|base_model")
_TUNING_WORDS = re.compile(r"lora|peft|finetun|fine[-_ ]tun|(?<![a-z])(?:ft|sft|dpo|rlhf|grpo|ppo)(?![a-z])")


def optimizer_family(case: Case) -> str:
    """`adamw`, `sgd`, ...; empty when the configuration does not tell."""
    word = case.word("optimizer") or _nested_optimizer(case)
    plain = re.sub(r"[^a-z]", "", word.lower())
    return next((family for family in _FAMILIES if family in plain), "")


def trainer_default(case: Case) -> str:
    """The optimizer of a trainer whose logs do not name it, when it has a well-known default."""
    return "adamw" if {"hf-trainer", "llamafactory"} & set(case.run.formats) else ""


def _nested_optimizer(case: Case) -> str:
    """`model/optimizer/_target_: torch.optim.AdamW` and the like."""
    for key, value in case.run.config.items():
        parts = re.split(r"[./]", key.lower())
        if (
            len(parts) > 1
            and "optim" in parts[-2]
            and parts[-1] in ("_target_", "class_path", "name", "type")
        ):
            return str(value)
    return ""


def is_set(value: Scalar) -> bool:
    """Whether a setting holds something: `None`, `False`, 0 and an empty text do not."""
    return value is not None and value is not False and str(value).strip().lower() not in _NOTHING


def adapted(case: Case) -> bool:
    """Whether the configuration says that adapters (LoRA) are trained instead of the whole model."""
    return any(is_set(value) and _ADAPTER.search(key.lower()) for key, value in case.run.config.items())


def pretrained(case: Case) -> bool:
    """Whether the configuration says that training starts from a trained model."""
    return any(
        is_set(value) and _PRETRAINED.search(key.lower()) and "token" not in key.lower()
        for key, value in case.run.config.items()
    )


def perhaps_tuned(case: Case) -> bool:
    """Whether anything hints at fine-tuning: the configuration, the run's path, preference or RL data."""
    hinted = _TUNING_WORDS.search(f"{case.run.name} {case.run.path}".lower()) is not None
    return hinted or adapted(case) or pretrained(case) or bool(case.traits & {"rl", "preference"})


def written(case: Case, setting: str) -> tuple[Place, ...]:
    """The line of the script that sets something, where it can be told."""
    line = anchor(case.script, setting) if case.script is not None else None
    return (line,) if line is not None else ()


def keys_of(case: Case, setting: str) -> Iterator[str]:
    """The configuration keys, in lower case, that stand for a canonical setting."""
    from traindx.core.names import setting_name

    return (key.lower() for key in case.run.config if setting_name(key) == setting)


def whole_batch(case: Case) -> tuple[float, bool] | None:
    """Samples per update, and whether accumulation and devices were known rather than taken as one."""
    batch = case.number("batch_size")
    if batch is None or batch < 1:
        return None
    parts = [case.number("accumulation"), case.number("world_size")]
    factors = [part for part in parts if part is not None and part >= 1]
    per_update = batch
    for part in factors:
        per_update *= part
    return per_update, parts[0] is not None


def counts_tokens(case: Case) -> bool:
    """Whether a batch size may count tokens: a language model."""
    keys = " ".join(case.run.config).lower()
    names = " ".join(case.names).lower()
    return bool(case.number("vocab_size")) or "token" in keys or "token" in names or "perplexity" in names
