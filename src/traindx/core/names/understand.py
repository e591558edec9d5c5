"""One name of a log, understood: split, metric, part and scope; the sides of a GAN."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from traindx.core.names.device import DeviceColumn, device_column, wandb_column
from traindx.core.names.vocabulary import (
    ADJECTIVES,
    FILLERS,
    FOREIGN,
    METRICS,
    SCOPE_WORDS,
    SCOPES,
    SPLITS,
    WHOLE_NAMES,
    WORDS,
)

_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+(?:\.\d+)*|[^\W\d_]+")
_HELD_OUT = re.compile(r"\bh[eo]ld[\s_-]?out(?![a-z])", re.I)
_COUNTED_FILLER = re.compile(r"(?:avg|average|mean|last)\d+")
_LOSS_PREFIX = re.compile(r"l_((?:g_|d_)?[a-z]\w*)")
_FOREIGN_WORD = re.compile("|".join(sorted(FOREIGN, key=len, reverse=True)), re.I)


# Names of the two sides of a GAN, written as one word.
_SIDES = re.compile(r"\b(d|g)(?=loss(?:es)?\b)", re.I)
_GENERATOR = frozenset({"g", "gen", "generator"})
_CRITIC = frozenset({"d", "disc", "discriminator"})
_GAN_PART = re.compile(r"^(?:[GD]_(?:GAN|L1|real|fake|A|B|VGG|adv|feat)\w*|cycle_[AB]|idt_[AB])$")


@dataclass(frozen=True)
class Meaning:
    """A log name, understood: `metric` is empty when it is not in the vocabulary."""

    split: str
    metric: str
    part: str
    scope: str
    known: bool


def tokens(raw: str) -> list[str]:
    """Lower-case words of a name: `valTop1Acc`, `eval/top-1_acc` and `Val Top1 Acc` alike."""
    plain = (
        english(raw).replace("'s ", " ").replace("@", " ").replace("CrossEntropyLoss", "cross_entropy_loss")
    )
    plain = _SIDES.sub(r"\1 ", _HELD_OUT.sub("holdout", plain))
    words = (t.lower() for t in _TOKEN.findall(plain))
    return [FOREIGN.get(w, w) for w in words if not _COUNTED_FILLER.fullmatch(w)]


def english(raw: str) -> str:
    """The few words that name metrics in other languages, put into English."""
    return raw if raw.isascii() else _FOREIGN_WORD.sub(lambda m: f" {FOREIGN[m[0].lower()]} ", raw)


@lru_cache(maxsize=262144)
def understand(raw: str) -> Meaning:
    """Read one log name into split, metric, part and scope."""
    base, _, scope = raw.strip().rpartition("@")
    if base and scope in SCOPES:
        inner = understand(base)
        return Meaning(inner.split, inner.metric, inner.part, scope, inner.known)
    whole = raw.strip().lower()
    if whole in WHOLE_NAMES:
        split, metric = WHOLE_NAMES[whole]
        return Meaning(split, metric, "", "", True)
    if canonical := _already(raw.strip()):
        return canonical
    if match := _LOSS_PREFIX.fullmatch(raw.strip()):
        part = "" if match[1].endswith("total") else match[1]
        return Meaning("", "loss", part, "", True)
    if _GAN_PART.match(raw.strip()):
        return Meaning("", "loss", raw.strip().lower(), "", True)
    split, scope, rest = "", "", []
    words = tokens(raw)
    rate = "".join(word for word in words[1:] if word != "device")
    if words[:1] == ["throughput"] and WORDS.get(rate, "").endswith("_per_s"):
        return Meaning("", WORDS[rate], "", "", True)
    device = _device(raw)
    if "".join(words) in WORDS and not (device and "%" in raw):
        return Meaning("", WORDS["".join(words)], "", "", True)
    if device:
        is_known = bool(device.metric)
        return Meaning("", device.metric, device.part if is_known else raw.strip(), "", is_known)
    for at, word in enumerate(words):
        if word == "0" and at and words[at - 1] in SPLITS:
            continue
        if word in SPLITS and not split and _is_split(words, at):
            split = SPLITS[word]
        elif word in SPLITS and SPLITS[word] == split:
            continue
        elif word in SCOPE_WORDS:
            scope = scope or SCOPE_WORDS[word]
            rest.append("\0" + word)
        else:
            rest.append(word)
    for drop_scopes in (False, True):
        core = [w.lstrip("\0") for w in rest if not (drop_scopes and w.startswith("\0"))]
        slim = [w for at, w in enumerate(core) if w not in FILLERS and w not in core[at + 1 : at + 3]]
        for form in (core, slim):
            key = "".join(form)
            if key in WORDS:
                used_scope = scope if drop_scopes else ""
                if not used_scope and form is slim and _AVERAGES & set(core):
                    used_scope = "mean"
                return Meaning(split, WORDS[key], "", used_scope, True)
    slim = [w.lstrip("\0") for w in rest if w.lstrip("\0") not in FILLERS and not w.startswith("\0")]
    if split and not slim and not any(w.startswith("\0") for w in rest):
        return Meaning(split, "loss", "", scope, True)
    head = _head_metric(slim)
    if head:
        metric, part = head
        return Meaning(split, metric, part, scope, True)
    return Meaning(split, "", _part_name(raw), "", False)


def _device(raw: str) -> DeviceColumn | None:
    """What a name measures on the machine."""
    words = (word for word in tokens(raw.replace("%", " percent ")) if SPLITS.get(word) != "train")
    return wandb_column(raw.strip()) or device_column(list(words))


def unit_factor(raw: str) -> float:
    """The factor of a column about the machine, by its name: to bytes, or from percent to a share."""
    device = _device(raw)
    return device.factor if device else 1.0


_AVERAGES = frozenset({"avg", "average", "averaged", "mean"})


def _is_split(words: list[str], at: int) -> bool:
    """`valid` in the middle of a name is an adjective, unless only `best` or the like precedes it."""
    if words[at] not in ADJECTIVES or at in (0, len(words) - 1):
        return True
    return all(word in FILLERS or word in SCOPE_WORDS for word in words[:at])


_LAYER = re.compile(
    r"(?:^|/)(?P<m>grad(?:ient)?_?norm|grad_2(?:\.0)?_norm|weight_norm|param_norm)s?[/.:](?P<layer>.+)$", re.I
)


_SHARE = r"(?P<m>zero|dead)(?:_(?:relu|unit|neuron|activation)s?)?_(?:share|fraction|frac|ratio|percent|pct)"
_ZEROS = re.compile(
    rf"^(?:(?P<layer>.+?)[_/.])?{_SHARE}$|^{_SHARE.replace('?P<m>', '?P<n>')}[/.](?P<after>.+)$", re.I
)


def _already(raw: str) -> Meaning | None:
    """Canonical names, per-layer norms and shares of zeros are taken as they are."""
    if raw.rpartition("/")[2] not in METRICS and (match := _ZEROS.search(raw)):
        kind = f"activation_{(match['m'] or match['n']).lower()}_share"
        return Meaning("", kind, match["layer"] or match["after"] or "all", "", True)
    if match := _LAYER.search(raw):
        kind = "weight_norm" if match["m"].lower()[0] in "wp" else "grad_norm"
        layer = match["layer"]
        if layer.lower() in ("total", "global", "all"):
            return Meaning("", kind, "", "", True)
        return Meaning("", kind, layer, "", True)
    meaning = parts(raw)
    if not meaning.known or meaning.scope not in ("", *SCOPES):
        return None
    if not meaning.part and "/" not in meaning.metric:
        return meaning
    split, metric, part = meaning.split, meaning.metric, meaning.part
    if split == "" and metric in ("loss", "grad_norm", "weight_norm", "lr") and part and not meaning.scope:
        if metric == "lr":
            return Meaning("", "lr", "" if part in ("pg0", "group0", "0") else part, "", True)
        if part.lower() not in SPLITS and part.split("_")[0].lower() not in SPLITS:
            return meaning
    return None


def parts(name: str) -> Meaning:
    """A canonical name, `[split/]metric[/part][@scope]`, taken apart."""
    base, _, scope = name.partition("@")
    split, rest = "", base
    for prefix in ("val", "test"):
        if base.startswith(prefix + "/"):
            split, rest = prefix, base[len(prefix) + 1 :]
    if rest in METRICS:
        return Meaning(split, rest, "", scope, True)
    metric, _, part = rest.partition("/")
    if metric in METRICS:
        return Meaning(split, metric, part, scope, True)
    return Meaning(split, "", rest, scope, False)


def canonical(raw: str) -> str:
    """What a name alone would be called, its scope left out."""
    meaning = understand(raw)
    return (f"{meaning.split}/" if meaning.split not in ("", "train") else "") + without_split(meaning)


def without_split(meaning: Meaning) -> str:
    """Metric and part of a name."""
    if not meaning.known:
        return meaning.part
    return meaning.metric + (f"/{meaning.part}" if meaning.part else "")


def gan_side(raw: str) -> str:
    """`g` or `d` when a name is the loss of a generator or a discriminator, else nothing."""
    words = set(tokens(raw))
    if not _GAN_PART.match(raw.strip()) and not words & {"loss", "err", "error"}:
        return ""
    return "g" if words & _GENERATOR else "d" if words & _CRITIC else ""


def _head_metric(words: list[str]) -> tuple[str, str] | None:
    """`box loss`, `loss box`, `acc 3` -> the metric at either end, the rest as its part."""
    if "loss" in words and words[-1] in _NO_LOSS:
        return ("loss_scale", "") if words[-1] == "scale" else None
    if "loss" in words and len(words) > 1:
        return "loss", "_".join(w for w in words if w != "loss")
    for size in range(min(4, len(words) - 1), 0, -1):
        for tail in (True, False):
            key = "".join(words[-size:] if tail else words[:size])
            metric = WORDS.get(key) if key != "cost" else None
            if metric is None or (metric not in _COMPOSABLE):
                continue
            part = words[:-size] if tail else words[size:]
            return metric, "_".join(part)
    return None


# `mtp_loss_weight`, `loss_type`: settings of a loss, not losses.
_NO_LOSS = frozenset(
    """
    scale weight weights multiplier coef coefficient lambda alpha beta gamma type fn function ratio
    factor
    """.split()
)
_COMPOSABLE = frozenset(
    """
    loss accuracy error perplexity lr grad_norm weight_norm reward f1 auc iou dice precision recall
    mae mse rmse map50 map bleu rouge kl entropy
    """.split()
)


def _part_name(raw: str) -> str:
    """The name of what is not in the vocabulary, with the split removed from the front."""
    text = raw.strip()
    head, sep, rest = text.partition("/")
    if sep and rest and head.lower() in SPLITS:
        text = rest
    else:
        for mark in ("_", " ", "-", "."):
            head, sep, rest = text.partition(mark)
            if sep and rest and head.lower() in SPLITS:
                text = rest
                break
    return re.sub(r"\s+", "_", text.strip()) or raw


def split_of(word: str) -> str:
    """`train`, `val` or `test` when a word names a split, else nothing."""
    return SPLITS.get(_HELD_OUT.sub("holdout", word.strip().lower()), "")


# Names of secondary series contain words of the user's model (`grad_norm/memory_bank`): not interpreted.
_SECONDARY = re.compile(
    r"^(?:(?:grad|weight|update|activation)_\w+/|(?:printed|logged|observed)/)|/rank\d+(?:@\w+)?$"
)


def is_secondary(name: str) -> bool:
    """Whether a canonical name is that of a layer, of a rank above the first, or of a second report."""
    return _SECONDARY.search(name) is not None
