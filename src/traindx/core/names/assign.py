"""Names for all columns of one run: which column gets the plain name, and what kind of training it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from traindx.core.names.overrides import forced_columns
from traindx.core.names.understand import (
    Meaning,
    gan_side,
    is_secondary,
    parts,
    tokens,
    understand,
    without_split,
)
from traindx.core.names.vocabulary import METRICS, SPLITS
from traindx.core.nouns import Goal, Series

# Losses whose best value is not zero: they may be negative, or a floor is not known. Words of a name,
# or two neighbours joined.
_UNBOUNDED = frozenset(
    """
    elbo nll neglogl likelihood loglik loglikelihood sisdr sisnr sdr policy actor critic value vf pg advantage
    grpo ppo dpo wasserstein wgan energy barlow vicreg entropybonus
    """.split()
)
# Reinforcement learning shows by what it alone measures.
# The value of an action next to the share of random ones.
_VALUES = frozenset({"q", "eps", "epsilon", "exploration", "episode"})
_RL = frozenset(
    """
    reward rewards advantage advantages eprew epreward policyloss policygradient actorloss criticloss
    clipfraction clipratio approxkl fracreward episodicreturn episodereturn
    """.split()
)


def _words(raw: str) -> set[str]:
    """The words of a name, and each two neighbours as one."""
    words = tokens(raw)
    return {*words, *(a + b for a, b in pairwise(words))}


@dataclass(frozen=True)
class UnnamedColumn:
    """A column before naming: its name as written, the split by its place, its number of points.

    `rising` says that its values only ever grow: such a `time` is the time since the start. `canonical` is
    its canonical name where that is known.
    """

    raw: str
    split: str | None = None
    points: int = 1
    derived: bool = False
    rising: bool = False
    canonical: str = ""


@dataclass(frozen=True)
class NamedColumn:
    """A column's canonical name, whether lower or higher is better, and its place in the list.

    `plain` is what it would be called if no other column were like it.
    """

    name: str
    goal: Goal
    floor: float | None
    order: tuple[int, str]
    plain: str = ""


def assign(candidates: Sequence[UnnamedColumn], overrides: Mapping[str, str]) -> list[NamedColumn]:
    """Give every column of one run a distinct canonical name.

    `overrides` maps canonical names to columns (`--map loss=my_column`), as written or as they would be
    named without it.
    """
    forced = _forced(candidates, overrides)
    meanings = _numbered_heads(candidates, [_meaning(c, forced) for c in candidates])
    test_is_val = not any(m.split == "val" for m in meanings) and any(
        m.split == "test" and c.points > 1 for m, c in zip(meanings, candidates, strict=True)
    )
    rl = any(m.metric == "reward" for m in meanings) or any(
        _words(c.raw) & _RL for c in candidates if not is_secondary(c.canonical)
    )
    taken: dict[str, int] = {}
    order = sorted(range(len(candidates)), key=lambda i: _priority(candidates[i], meanings[i], forced))
    result: dict[int, NamedColumn] = {}
    for i in order:
        candidate, meaning = candidates[i], meanings[i]
        if candidate.raw in forced:
            name = forced[candidate.raw]
        else:
            name = candidate.canonical or _spell(meaning, candidate, test_is_val, taken, overrides)
        base, n = name, 2
        while name in taken:
            name, n = f"{base}#{n}", n + 1
        taken[name] = i
        plain = candidate.canonical or _plain(meaning, test_is_val)
        result[i] = replace(_named(name, candidate, rl), plain=plain)
    _promote_only_one(result, candidates, taken)
    return [result[i] for i in range(len(candidates))]


def _forced(candidates: Sequence[UnnamedColumn], overrides: Mapping[str, str]) -> dict[str, str]:
    raws = [c.raw for c in candidates]
    if set(overrides.values()) <= set(raws):
        return {column: name for name, column in overrides.items()}
    return forced_columns(overrides, raws, [column.name for column in assign(candidates, {})])


def _meaning(candidate: UnnamedColumn, forced: Mapping[str, str]) -> Meaning:
    if candidate.canonical and candidate.raw not in forced:
        return parts(candidate.canonical)
    meaning = understand(forced.get(candidate.raw, candidate.raw))
    if meaning.metric == "step_s" and candidate.rising:
        meaning = Meaning(meaning.split, "elapsed_s", meaning.part, "", True)
    if meaning.metric in _SPLITLESS and meaning.split:
        meaning = Meaning("", meaning.metric, meaning.part, meaning.scope, meaning.known)
    if meaning.split == "" and candidate.split and meaning.metric not in _SPLITLESS:
        split = SPLITS.get(candidate.split.lower(), candidate.split)
        return Meaning(split, meaning.metric, meaning.part, meaning.scope, meaning.known)
    return meaning


_HEAD = re.compile(r"^(.*acc(?:uracy)?)_(\d+)$", re.I)


def _numbered_heads(candidates: Sequence[UnnamedColumn], meanings: list[Meaning]) -> list[Meaning]:
    """`acc_0` ... `acc_6` number the heads of a model; without `acc_0` the number is a top-k."""
    hits = [_HEAD.match(c.raw) for c in candidates]
    zeros = {hit[1] for hit in hits if hit and hit[2] == "0"}
    return [
        Meaning(m.split, "accuracy", hit[2], m.scope, True) if hit and hit[1] in zeros else m
        for hit, m in zip(hits, meanings, strict=True)
    ]


# What belongs to the training however the line or folder around it is called.
_SPLITLESS = frozenset(
    {"lr", "grad_norm", "weight_norm", "loss_scale", "epoch", "grad_clip_share", "skipped_steps", "nan_steps"}
)


_SCOPE_RANKS = {"epoch": 1, "bar": 2, "batch": 3, "mean": 4, "best": 5, "final": 6}


def _priority(candidate: UnnamedColumn, meaning: Meaning, forced: Mapping[str, str]) -> tuple[object, ...]:
    """Which column gets the plain name: the forced, the per-step, the one with more points, the first."""
    scope = _SCOPE_RANKS.get(meaning.scope, 0)
    summary = candidate.points <= 1
    return (
        candidate.raw not in forced,
        not candidate.canonical,
        summary,
        scope,
        candidate.derived,
        meaning.split == "train" and scope > 0,
        -candidate.points,
    )


def _spell(
    meaning: Meaning,
    candidate: UnnamedColumn,
    test_is_val: bool,
    taken: Mapping[str, int],
    overrides: Mapping[str, str],
) -> str:
    name = _plain(meaning, test_is_val)
    if not meaning.known:
        return name
    front = _front(meaning, test_is_val)
    if name not in taken and name not in overrides and meaning.scope != "best":
        return name
    scope = (
        "@final"
        if candidate.points <= 1 and meaning.scope in ("", "step")
        else f"@{meaning.scope}"
        if meaning.scope
        else ""
    )
    if scope and name + scope not in taken:
        return name + scope
    raw = candidate.raw.removesuffix(scope) if scope else candidate.raw
    return front + meaning.metric + "/" + re.sub(r"\s+", "_", raw) + scope


def _plain(meaning: Meaning, test_is_val: bool) -> str:
    """The name without its scope."""
    return _front(meaning, test_is_val) + without_split(meaning)


def _front(meaning: Meaning, test_is_val: bool) -> str:
    split = "val" if meaning.split == "test" and test_is_val else meaning.split
    return f"{split}/" if split not in ("", "train") else ""


_RANKS = {"loss": 0, "accuracy": 2, "lr": 4, "grad_norm": 5}


def _named(name: str, candidate: UnnamedColumn, rl: bool) -> NamedColumn:
    meaning = parts(name)
    split, metric = meaning.split, METRICS.get(meaning.metric)
    goal: Goal = metric.goal if metric else "none"
    floor = metric.floor if metric else None
    if meaning.metric == "loss":
        if rl or not _UNBOUNDED.isdisjoint(_words(candidate.raw)):
            floor = None
        if rl and not split:
            goal = "none"
        if meaning.part and gan_side(candidate.raw):
            goal, floor = "none", None
    rank = _RANKS.get(meaning.metric, 6) if metric and not meaning.part else 6 if metric else 8
    return NamedColumn(name, goal, floor, (rank + (1 if split else 0), name))


def _promote_only_one(
    result: dict[int, NamedColumn], candidates: Sequence[UnnamedColumn], taken: dict[str, int]
) -> None:
    """When no column is plainly the loss (or the lr) but just one is of its kind, that one is it."""
    for name in ("loss", "val/loss", "lr", "grad_norm", "gpu_busy_share", "gpu_mem_share", "gpu_mem_bytes"):
        if name in taken:
            continue
        lone = [
            i
            for i, n in result.items()
            if n.name.startswith(name + "/")
            and "@" not in n.name
            and not (candidates[i].canonical and is_secondary(n.name))
        ]
        if name == "lr" and lone:
            lone = [min(lone, key=lambda i: (-candidates[i].points, i))]
        if len(lone) == 1 and not gan_side(candidates[lone[0]].raw):
            old = result[lone[0]]
            order = (_RANKS.get(name.removeprefix("val/"), 6) + ("/" in name), name)
            result[lone[0]] = replace(old, name=name, order=order, plain=name)
            taken[name] = lone[0]


def traits(series: Mapping[str, Series]) -> frozenset[str]:
    """What kind of training it is, judged by the names: `rl`, `gan`, `preference`, `elbo`, ..."""
    sources = [s.source for name, s in series.items() if not is_secondary(name)]
    raws = [source.lower() for source in sources]
    words = set[str]().union(*map(_words, raws))
    kinds = set()
    preference = any(raw.endswith(("rewards/chosen", "logps/chosen")) for raw in raws)
    if preference:
        kinds.add("preference")
    elif words & _RL or {"q"} < words & _VALUES or any(parts(name).metric == "reward" for name in series):
        kinds.add("rl")
    if {gan_side(source) for source in sources} >= {"g", "d"}:
        kinds.add("gan")
    if "elbo" in words or (words & {"kl", "kld"} and words & {"recon", "reconstruction", "rec"}):
        kinds.add("elbo")
    if words & {"sisdr", "sisnr"}:
        kinds.add("si_sdr")
    loss = series.get("loss")
    if loss is not None and len(loss) and (loss.values < 0).any():
        kinds.add("negative_loss")
    return frozenset(kinds)
