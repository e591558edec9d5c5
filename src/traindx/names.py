"""What a metric is called: one canonical vocabulary, and how log names are read into it.

A canonical name is `[split/]metric[/part][@scope]`: `loss`, `val/loss`, `loss/box`,
`grad_norm/encoder.0`, `loss@epoch`. No split means training. Scopes tell apart what one log holds
several times: `@epoch` (a mean over the epoch beside per-step values), `@step`, `@bar` (what a
progress bar showed inside an epoch), `@batch` (single validation batches), `@mean` (a running mean),
`@best`, `@final` (one value told at the end).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from traindx.core import Axis, Goal, Scalar, Series

SCOPES = ("step", "epoch", "mean", "batch", "bar", "best", "final")
_SPLITS = {
    **dict.fromkeys(("train", "training", "trn", "tr", "learn"), "train"),
    **dict.fromkeys(
        ("val", "valid", "validation", "validating", "validate", "eval", "evaluation", "dev", "vali", "holdout"), "val"
    ),
    **dict.fromkeys(("test", "testing", "tst", "predict"), "test"),
}
# Split words that are plain adjectives in the middle of a name: `rewards/valid_json_reward`.
_ADJECTIVES = frozenset({"valid", "dev", "test"})
_SCOPES = {
    **dict.fromkeys(("epoch", "epochs"), "epoch"),
    **dict.fromkeys(("step", "steps", "iter", "iteration", "iterations", "batch", "minibatch"), "step"),
    **dict.fromkeys(("running", "smoothed", "smooth", "ema", "moving", "smth"), "mean"),
    **dict.fromkeys(("best",), "best"),
}
_FILLERS = frozenset(
    "avg average averaged mean total overall current cur curr final is the number num of on at was for now this new per "
    "and vs metrics metric scalar scalars stats stat performance perf all optim optimizer summary set data subset model".split()
)


@dataclass(frozen=True)
class Metric:
    """What one canonical metric means."""

    goal: Goal
    floor: float | None
    words: tuple[str, ...]


def _m(goal: Goal, floor: float | None, words: str) -> Metric:
    return Metric(goal, floor, tuple(words.split()))


# `words` are whole names after splits, scopes and fillers are taken away, joined by `_`.
METRICS: dict[str, Metric] = {
    "loss": _m(
        "lower", 0.0,
        "loss losses cost objective lm_loss ce ce_loss xent cross_entropy crossentropy cross_entropy_loss crossentropyloss "
        "nll_loss loss_ce training_error criterion mse_loss loss_value trl tel logloss mlogloss",
    ),
    "perplexity": _m("lower", 1.0, "ppl perplexity pplx"),
    "bits_per_byte": _m("lower", 0.0, "bpb bits_per_byte bpc bits_per_char bpd bits_per_dim"),
    "accuracy": _m(
        "higher", None,
        "acc accuracy accuracies acc1 top1 top_1 acc_1 acc_top1 top1_acc top1_accuracy top_1_accuracy prec1 prec_1 "
        "categorical_accuracy sparse_categorical_accuracy binary_accuracy accuracy_score accu token_accuracy token_acc "
        "mean_token_accuracy acc_top_1 classification_accuracy",
    ),
    "accuracy/top5": _m("higher", None, "acc5 top5 top_5 acc_5 acc_top5 top5_acc top5_accuracy top_5_accuracy prec5 prec_5"),
    "error": _m("lower", 0.0, "err error error_rate err_rate top1_err top1_error"),
    "wer": _m("lower", 0.0, "wer word_error_rate"),
    "cer": _m("lower", 0.0, "cer char_error_rate"),
    "mse": _m("lower", 0.0, "mse mean_squared_error squared_error"),
    "rmse": _m("lower", 0.0, "rmse root_mean_squared_error"),
    "mae": _m("lower", 0.0, "mae mean_absolute_error l1 l1_error"),
    "score": _m("none", None, "score"),
    "r2": _m("higher", None, "r2 r2_score r_squared"),
    "precision": _m("higher", None, "precision prec precision_b"),
    "recall": _m("higher", None, "recall sensitivity recall_b"),
    "f1": _m("higher", None, "f1 f1_score fscore f_score macro_f1 f1_macro micro_f1 f1_micro"),
    "auc": _m("higher", None, "auc auroc roc_auc roc_auc_score auc_roc"),
    "iou": _m("higher", None, "iou miou mean_iou jaccard"),
    "dice": _m("higher", None, "dice dice_score dice_coef dice_coefficient dsc"),
    "map50": _m("higher", None, "map50 map_50 map_0_5 ap50 map50_b map_0.5"),
    "map": _m("higher", None, "map map50_95 map_50_95 ap map_0_5_0_95 map_0.5_0.95 map50_95_b"),
    "bleu": _m("higher", None, "bleu bleu4 sacrebleu"),
    "rouge": _m("higher", None, "rouge rouge1 rougel rouge_l rougelsum rouge_1"),
    "psnr": _m("higher", None, "psnr"),
    "ssim": _m("higher", None, "ssim"),
    "fid": _m("lower", 0.0, "fid"),
    "reward": _m("higher", None, "reward rewards episode_reward ep_reward ep_rew_mean ep_rew mean_reward return returns episode_return episodic_return"),
    "kl": _m("none", 0.0, "kl kl_div kl_divergence approx_kl"),
    "entropy": _m("none", None, "entropy"),
    "lr": _m("none", None, "lr learning_rate learningrate learn_rate lr_0 lr0 lr_pg0 x_lr0 lr_group0 lr_group_0 current_lr base_lr lr_abs step_size"),
    "grad_norm": _m(
        "none", 0.0,
        "grad_norm gradnorm gnorm gradient_norm norm grad_2_norm grad_2.0_norm_total grad_norm_total grad_total_norm total_grad_norm "
        "global_grad_norm grad_l2_norm gradients_norm total_norm grad",
    ),
    "grad_clip_share": _m("none", 0.0, "clip clip_share clip_fraction clipped clipping_rate"),
    "weight_norm": _m("none", 0.0, "weight_norm param_norm params_norm parameter_norm wnorm"),
    "loss_scale": _m("none", None, "loss_scale scale grad_scale amp_scale scaler_scale scaler"),
    "skipped_steps": _m("none", 0.0, "skipped_steps skipped number_of_skipped_iterations skipped_iterations num_skipped"),
    "nan_steps": _m("none", 0.0, "nan_steps number_of_nan_iterations nan_iterations"),
    "step_s": _m("none", 0.0, "step_s step_time time_per_step batch_cost dt time_per_iteration elapsed_time_per_iteration iter_time batch_time sec_per_step s_it s_iter ms_iter ms_step us_step s_step sec_it step_avg time"),
    "data_wait_s": _m("none", 0.0, "data_wait_s reader_cost data_time data_wait data loader_time data_loading_time load_time"),
    "epoch_s": _m("none", 0.0, "epoch_s time_cost cost_time epoch_time time_taken epoch_duration time_elapsed_epoch"),
    "tokens_per_s": _m("none", 0.0, "tokens_per_s tok_s tok_sec tokens_s tokens_sec tokens_per_second tokens_per_sec tps wps tokens_per_gpu"),
    "samples_per_s": _m("none", 0.0, "samples_per_s samples_per_second samples_sec samples_s img_s imgs_s images_s images_sec images_per_second examples_per_second im_s"),
    "steps_per_s": _m("none", 0.0, "steps_per_s steps_per_second it_sec global_step_sec it_s iter_s its ups iterations_per_second batches_per_second steps_s"),
    "throughput": _m("none", 0.0, "throughput tflops gflops tgs"),
    "mfu": _m("none", None, "mfu hfu"),
    "gpu_mem_bytes": _m("none", 0.0, "gpu_mem_bytes gpu_memory_bytes memory_bytes mem_bytes max_mem_bytes max_memory_bytes cuda_mem_bytes"),
    "gpu_mem": _m("none", 0.0, "gpu_mem gpu_memory max_mem max_memory memory mem cuda_mem cuda_memory mem_reserved vram"),
    "gpu_util": _m("none", 0.0, "gpu_util gpu_utilization"),
    "rss_bytes": _m("none", 0.0, "rss_bytes rss ram cpu_mem process_memory"),
    "batch_size": _m("none", 0.0, "batch_size bsz global_batch_size bs"),
    "tokens": _m("none", 0.0, "tokens num_tokens total_tokens num_input_tokens_seen tokens_seen consumed_tokens total_training_tokens"),
    "samples": _m("none", 0.0, "samples consumed_samples samples_seen num_samples"),
    "epoch": _m("none", 0.0, "epoch epochs ep"),
    "elapsed_s": _m("none", 0.0, "elapsed_s elapsed time_elapsed elapsed_time runtime wall wall_time train_time total_time relative_time"),
}
_WORDS = {word.replace("_", ""): name for name, metric in METRICS.items() for word in metric.words}

# Losses whose best value is not zero: they may be negative, or a floor is not known.
_UNBOUNDED = re.compile(
    r"elbo|nll|neg_?log_?lik|log_?lik|negative_log|si_?sdr|si_?snr|sdr|policy|actor|critic|value_loss|vf_loss|pg_loss|entropy_(?:loss|bonus)|"
    r"advantage|grpo|ppo|dpo|wasserstein|wgan|energy|free_?energy|score_match|barlow|vicreg",
)
_RL = re.compile(r"reward|advantage|episode|ep_len|ep_rew|policy_loss|actor_loss|critic_loss|clip_ratio|clip_fraction|approx_kl|frac_reward")
_GENERATOR = frozenset({"g", "gen", "generator"})
_CRITIC = frozenset({"d", "disc", "discriminator"})
_GAN_PART = re.compile(r"^(?:[GD]_(?:GAN|L1|real|fake|A|B|VGG|adv|feat)\w*|cycle_[AB]|idt_[AB])$")

_COUNTERS: dict[str, tuple[int, Axis]] = {
    **{n: (0, "step") for n in ("total_timesteps", "timesteps", "num_timesteps", "time_total_timesteps", "time_timesteps", "global_step", "num_updates", "update_step", "train_global_step", "trainer_global_step", "total_step", "global_steps", "step_global")},
    **{n: (1, "step") for n in ("step", "steps", "current_steps", "current_step", "iteration", "iterations", "iter", "iters", "it", "update", "updates", "num_update", "n_iter", "s", "_step", "training_step", "train_step", "opt_step", "total_steps_done", "itr", "num_steps", "niter")},
    **{n: (2, "step") for n in ("batch", "batch_idx", "minibatch", "i", "batches", "batch_i", "mb")},
    **{n: (3, "epoch") for n in ("epoch", "epochs", "ep", "current_epoch", "epoch_idx", "epoch_number", "train_epoch")},
    **{n: (4, "step") for n in ("episode", "episodes", "timestep", "round", "generation", "consumed_samples", "index", "unnamed_0")},
}
_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+(?:\.\d+)*|[^\W\d_]+")
_ALIASES_WHOLE = {"trl": ("train", "loss"), "tel": ("val", "loss"), "tloss": ("train", "loss"), "vloss": ("val", "loss"), "trainloss": ("train", "loss"),
                  "valloss": ("val", "loss"), "valacc": ("val", "accuracy"), "trainacc": ("train", "accuracy"), "vacc": ("val", "accuracy"), "testacc": ("test", "accuracy"), "testloss": ("test", "loss")}


@dataclass(frozen=True)
class Meaning:
    """A log name, understood: `metric` is empty when the vocabulary does not hold it."""

    split: str
    metric: str
    part: str
    scope: str
    known: bool


@dataclass(frozen=True)
class Candidate:
    """A column that wants a name: as written, the split its place tells, its number of points.

    `rising` says that its values only ever grow: such a `time` is the time since the start.
    """

    raw: str
    split: str | None = None
    points: int = 1
    derived: bool = False
    rising: bool = False


@dataclass(frozen=True)
class Named:
    """The name a column got, what is wished of it, and where it stands in the list."""

    name: str
    goal: Goal
    floor: float | None
    order: tuple[int, str]


def tokens(raw: str) -> list[str]:
    """Lower-case words of a name: `valTop1Acc`, `eval/top-1_acc` and `Val Top1 Acc` alike."""
    plain = english(raw).replace("'s ", " ").replace("@", " ").replace("CrossEntropyLoss", "cross_entropy_loss")
    return [t.lower() for t in _TOKEN.findall(plain)]


_FOREIGN = {
    "训练": "train", "验证": "val", "测试": "test", "损失": "loss", "准确率": "accuracy", "正确率": "accuracy", "精度": "accuracy",
    "学习率": "lr", "轮次": "epoch", "轮数": "epoch", "耗时": "time", "用时": "time", "平均": "avg", "步数": "step", "迭代": "iter", "批次": "batch", "梯度范数": "grad_norm",
    "損失": "loss", "検証": "val", "訓練": "train", "学習率": "lr", "エポック": "epoch", "손실": "loss", "정확도": "accuracy", "검증": "val", "학습률": "lr", "에폭": "epoch",
    "потери": "loss", "потеря": "loss", "точность": "accuracy", "эпоха": "epoch", "pérdida": "loss", "época": "epoch", "époque": "epoch",
}
_FOREIGN_WORD = re.compile("|".join(sorted(_FOREIGN, key=len, reverse=True)), re.I)


def english(raw: str) -> str:
    """The few words that name metrics in other languages, put into English."""
    return raw if raw.isascii() else _FOREIGN_WORD.sub(lambda m: f" {_FOREIGN[m[0].lower()]} ", raw)


@lru_cache(maxsize=65536)
def understand(raw: str) -> Meaning:
    """Read one log name into split, metric, part and scope."""
    base, _, scope = raw.strip().rpartition("@")
    if base and scope in SCOPES:
        inner = understand(base)
        return Meaning(inner.split, inner.metric, inner.part, scope, inner.known)
    whole = raw.strip().lower()
    if whole in _ALIASES_WHOLE:
        split, metric = _ALIASES_WHOLE[whole]
        return Meaning(split, metric, "", "", True)
    if canonical := _already(raw.strip()):
        return canonical
    if _GAN_PART.match(raw.strip()):
        return Meaning("", "loss", raw.strip().lower(), "", True)
    split, scope, rest = "", "", []
    words = tokens(raw)
    if "".join(words) in _WORDS:
        return Meaning("", _WORDS["".join(words)], "", "", True)
    for at, word in enumerate(words):
        if word == "0" and at and words[at - 1] in _SPLITS:
            continue
        if word in _SPLITS and not split and (word not in _ADJECTIVES or at in (0, len(words) - 1)):
            split = _SPLITS[word]
        elif word in _SPLITS and _SPLITS[word] == split:
            continue
        elif word in _SCOPES:
            scope = scope or _SCOPES[word]
            rest.append("\0" + word)
        else:
            rest.append(word)
    for drop_scopes in (False, True):
        core = [w.lstrip("\0") for w in rest if not (drop_scopes and w.startswith("\0"))]
        slim = [w for at, w in enumerate(core) if w not in _FILLERS and w not in core[at + 1 : at + 3]]
        for form in (core, slim):
            key = "".join(form)
            if key in _WORDS:
                used_scope = scope if drop_scopes else ""
                return Meaning(split, _WORDS[key], "", used_scope, True)
    slim = [w.lstrip("\0") for w in rest if w.lstrip("\0") not in _FILLERS and not w.startswith("\0")]
    if split and not slim and not any(w.startswith("\0") for w in rest):
        return Meaning(split, "loss", "", scope, True)
    head = _head_metric(slim)
    if head:
        metric, part = head
        return Meaning(split, metric, part, scope, True)
    return Meaning(split, "", _part_name(raw, split), "", False)


_LAYER = re.compile(r"(?:^|/)(?P<m>grad(?:ient)?_?norm|grad_2(?:\.0)?_norm|weight_norm|param_norm)s?[/.:](?P<layer>.+)$", re.I)


def _already(raw: str) -> Meaning | None:
    """Canonical names and per-layer norms are taken as they are."""
    if found := _LAYER.search(raw):
        kind = "weight_norm" if found["m"].lower()[0] in "wp" else "grad_norm"
        layer = found["layer"]
        if layer.lower() in ("total", "global", "all"):
            return Meaning("", kind, "", "", True)
        return Meaning("", kind, layer, "", True)
    base, _, scope = raw.partition("@")
    split, rest = "", base
    for known in ("val", "test"):
        if base.startswith(known + "/"):
            split, rest = known, base[len(known) + 1 :]
    if scope in ("", *SCOPES):
        if rest in METRICS and "/" not in rest:
            return Meaning(split, rest, "", scope, True)
        metric, _, part = rest.partition("/")
        if split == "" and metric in ("loss", "grad_norm", "weight_norm", "lr") and part and not scope:
            if metric == "lr":
                return Meaning("", "lr", "" if part in ("pg0", "group0", "0") else part, "", True)
            if part.lower() not in _SPLITS and part.split("_")[0].lower() not in _SPLITS:
                return Meaning("", metric, part, "", True)
    return None


def _gan_side(raw: str) -> str:
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
            metric = _WORDS.get(key) if key != "cost" else None
            if metric is None or (metric not in _COMPOSABLE):
                continue
            part = words[:-size] if tail else words[size:]
            return metric, "_".join(part)
    return None


# `mtp_loss_weight`, `loss_type`: settings of a loss, not losses.
_NO_LOSS = frozenset("scale weight weights multiplier coef coefficient lambda alpha beta gamma type fn function ratio factor".split())
_COMPOSABLE = frozenset(
    "loss accuracy error perplexity lr grad_norm weight_norm reward f1 auc iou dice precision recall mae mse rmse map50 map bleu rouge kl entropy".split()
)


def _part_name(raw: str, split: str) -> str:
    """The name kept for what the vocabulary does not hold, its split taken off the front."""
    text = raw.strip()
    head, sep, rest = text.partition("/")
    if sep and rest and head.lower() in _SPLITS:
        text = rest
    else:
        for mark in ("_", " ", "-", "."):
            head, sep, rest = text.partition(mark)
            if sep and rest and head.lower() in _SPLITS:
                text = rest
                break
    return re.sub(r"\s+", "_", text.strip()) or raw


def split_of(word: str) -> str:
    """`train`, `val` or `test` when a word names a split, else nothing."""
    return _SPLITS.get(word.strip().lower(), "")


def counter_rank(raw: str) -> int | None:
    """How well a name serves as the step (0 best), None when it is no counter."""
    found = _COUNTERS.get(_counter_key(raw))
    return found[0] if found else None


def axis_of(raw: str) -> Axis | None:
    """What a counter counts: steps or epochs."""
    found = _COUNTERS.get(_counter_key(raw))
    return found[1] if found else None


def _counter_key(raw: str) -> str:
    key = re.sub(r"[^a-z0-9]+", "_", english(raw).strip().lower()).strip("_")
    for lead in ("train_", "trainer_", "training_"):
        if key.startswith(lead) and key[len(lead) :] in _COUNTERS:
            return key[len(lead) :]
    return key


def assign(candidates: Sequence[Candidate], overrides: Mapping[str, str]) -> list[Named]:
    """Give every column of one run a distinct canonical name.

    `overrides` maps canonical names to columns as written (`--map loss=my_column`).
    """
    forced = {column: name for name, column in overrides.items()}
    meanings = _numbered_heads(candidates, [_meaning(c, forced) for c in candidates])
    test_is_val = not any(m.split == "val" for m in meanings) and any(
        m.split == "test" and c.points > 1 for m, c in zip(meanings, candidates, strict=True)
    )
    raws = " ".join(c.raw.lower() for c in candidates)
    taken: dict[str, int] = {}
    order = sorted(range(len(candidates)), key=lambda i: _priority(candidates[i], meanings[i], forced))
    result: dict[int, Named] = {}
    for i in order:
        candidate, meaning = candidates[i], meanings[i]
        if candidate.raw in forced:
            name = forced[candidate.raw]
        else:
            name = _spell(meaning, candidate, test_is_val, taken, overrides)
        base, n = name, 2
        while name in taken:
            name, n = f"{base}#{n}", n + 1
        taken[name] = i
        result[i] = _named(name, candidate, raws)
    _promote_total(result, candidates, taken)
    return [result[i] for i in range(len(candidates))]


def _meaning(candidate: Candidate, forced: Mapping[str, str]) -> Meaning:
    meaning = understand(forced.get(candidate.raw, candidate.raw))
    if meaning.metric == "step_s" and candidate.rising:
        meaning = Meaning(meaning.split, "elapsed_s", meaning.part, "", True)
    if meaning.metric in _SPLITLESS and meaning.split:
        meaning = Meaning("", meaning.metric, meaning.part, meaning.scope, meaning.known)
    if meaning.split == "" and candidate.split and meaning.metric not in _SPLITLESS:
        split = _SPLITS.get(candidate.split.lower(), candidate.split)
        return Meaning(split, meaning.metric, meaning.part, meaning.scope, meaning.known)
    return meaning


_HEAD = re.compile(r"^(.*acc(?:uracy)?)_(\d+)$", re.I)


def _numbered_heads(candidates: Sequence[Candidate], meanings: list[Meaning]) -> list[Meaning]:
    """`acc_0` ... `acc_6` number the heads of a model; without `acc_0` the number is a top-k."""
    hits = [_HEAD.match(c.raw) for c in candidates]
    zeros = {hit[1] for hit in hits if hit and hit[2] == "0"}
    return [
        Meaning(m.split, "accuracy", hit[2], m.scope, True) if hit and hit[1] in zeros else m
        for hit, m in zip(hits, meanings, strict=True)
    ]


# What belongs to the training however the line or folder around it is called.
_SPLITLESS = frozenset({"lr", "grad_norm", "weight_norm", "loss_scale", "epoch", "grad_clip_share", "skipped_steps", "nan_steps"})


def _priority(candidate: Candidate, meaning: Meaning, forced: Mapping[str, str]) -> tuple[object, ...]:
    """Who gets the plain name: the forced, the per-step, the many-pointed, the first."""
    scope = {"": 0, "step": 0, "epoch": 1, "bar": 2, "batch": 3, "mean": 4, "best": 5, "final": 6}[meaning.scope]
    summary = candidate.points <= 1
    return (candidate.raw not in forced, summary, scope, candidate.derived, meaning.split == "train" and scope > 0, -candidate.points)


def _spell(meaning: Meaning, candidate: Candidate, test_is_val: bool, taken: Mapping[str, int], overrides: Mapping[str, str]) -> str:
    split = "" if meaning.split == "train" else meaning.split
    if split == "test" and test_is_val:
        split = "val"
    front = f"{split}/" if split else ""
    if not meaning.known:
        return front + meaning.part
    name = front + meaning.metric + (f"/{meaning.part}" if meaning.part else "")
    if name not in taken and name not in overrides and meaning.scope != "best":
        return name
    scope = "@final" if candidate.points <= 1 and meaning.scope in ("", "step") else f"@{meaning.scope}" if meaning.scope else ""
    if scope and name + scope not in taken:
        return name + scope
    raw = candidate.raw.removesuffix(scope) if scope else candidate.raw
    return front + meaning.metric + "/" + re.sub(r"\s+", "_", raw) + scope


_RANKS = {"loss": 0, "accuracy": 2, "lr": 4, "grad_norm": 5}


def _named(name: str, candidate: Candidate, raws: str) -> Named:
    split, _, rest = name.partition("/") if name.split("/")[0] in ("val", "test") else ("", "", name)
    base = rest.partition("@")[0]
    metric = METRICS.get(base) or METRICS.get(base.partition("/")[0])
    goal: Goal = metric.goal if metric else "none"
    floor = metric.floor if metric else None
    if base.startswith("loss"):
        if _UNBOUNDED.search(candidate.raw.lower()) or _RL.search(raws):
            floor = None
        if _RL.search(raws) and not split:
            goal = "none"
        if base != "loss" and _gan_side(candidate.raw):
            goal, floor = "none", None
    rank = _RANKS.get(base, 6 if metric else 8)
    return Named(name, goal, floor, (rank + (1 if split else 0), name))


def _promote_total(result: dict[int, Named], candidates: Sequence[Candidate], taken: dict[str, int]) -> None:
    """When no column is plainly the loss (or the lr) but just one is of its kind, that one is it."""
    for name in ("loss", "val/loss", "lr", "grad_norm"):
        if name in taken:
            continue
        parts = [i for i, n in result.items() if n.name.startswith(name + "/") and "@" not in n.name]
        if name == "lr" and parts:
            parts = [min(parts, key=lambda i: (-candidates[i].points, i))]
        if len(parts) == 1 and not _gan_side(candidates[parts[0]].raw):
            old = result[parts[0]]
            result[parts[0]] = Named(name, old.goal, old.floor, (_RANKS[name.removeprefix("val/")] + ("/" in name), name))
            taken[name] = parts[0]


def traits(series: Mapping[str, Series]) -> frozenset[str]:
    """What kind of training the names tell: `rl`, `gan`, `preference`, `elbo`, ..."""
    raws = " ".join(s.source.lower() for s in series.values())
    found = set()
    if _RL.search(raws) and "rewards/chosen" not in raws:
        found.add("rl")
    if "rewards/chosen" in raws or "logps/chosen" in raws:
        found.add("preference")
    if {_gan_side(s.source) for s in series.values()} >= {"g", "d"}:
        found.add("gan")
    if "elbo" in raws or re.search(r"\bkld?(_loss)?\b.*recon|recon.*\bkld?(_loss)?\b", raws):
        found.add("elbo")
    if re.search(r"si_?sdr|si_?snr", raws):
        found.add("si_sdr")
    loss = series.get("loss")
    if loss is not None and len(loss) and (loss.values < 0).any():
        found.add("negative_loss")
    return frozenset(found)


SETTINGS: dict[str, str] = {
    "lr": "lr learning_rate base_lr initial_lr max_lr peak_lr lr0 init_lr optimizer_lr learn_rate",
    "min_lr": "min_lr lr_min final_lr eta_min min_learning_rate",
    "optimizer": "optimizer optim optimizer_name opt optimizer_type",
    "batch_size": "batch_size per_device_train_batch_size train_batch_size bs micro_batch_size device_batch_size batch batchsize batch_size_per_gpu global_batch_size total_batch_size total_desired_batch_size per_gpu_train_batch_size",
    "eval_batch_size": "eval_batch_size per_device_eval_batch_size val_batch_size test_batch_size",
    "accumulation": "accumulation gradient_accumulation_steps grad_accum_steps accumulate_grad_batches accum_iter gradient_accumulation grad_accum",
    "schedule": "schedule lr_scheduler_type lr_scheduler scheduler lr_schedule lr_policy sched",
    "warmup": "warmup warmup_steps warmup_epochs num_warmup_steps warmup_iters warmup_iterations lr_warmup_steps",
    "warmup_ratio": "warmup_ratio warmup_fraction",
    "weight_decay": "weight_decay wd l2 lambda_l2 l2_reg weight_decay_rate",
    "momentum": "momentum sgd_momentum",
    "beta1": "beta1 adam_beta1",
    "beta2": "beta2 adam_beta2",
    "eps": "eps epsilon adam_epsilon adam_eps",
    "clip": "clip grad_clip max_grad_norm gradient_clip_val clip_grad clip_grad_norm gradient_clipping grad_clip_norm max_norm clip_norm",
    "epochs": "epochs num_train_epochs num_epochs max_epochs n_epochs total_epochs nepochs train_epochs",
    "max_steps": "max_steps total_steps num_steps max_iters train_steps num_iterations total_iterations max_iter num_training_steps training_steps num_train_steps total_iters",
    "seed": "seed random_seed manual_seed torch_seed",
    "dropout": "dropout dropout_rate drop_rate p_dropout dropout_p resid_pdrop hidden_dropout_prob embd_pdrop attn_dropout attention_dropout",
    "label_smoothing": "label_smoothing label_smoothing_factor ls_smoothing smoothing",
    "precision": "precision mixed_precision dtype torch_dtype amp_dtype compute_dtype",
    "fp16": "fp16 half use_fp16 amp use_amp",
    "bf16": "bf16 use_bf16",
    "model": "model model_name model_type arch architecture model_name_or_path backbone net network name_or_path",
    "model_parameters": "model_parameters num_parameters n_params num_params total_params parameters model_params trainable_params trainable_parameters model_parameter_count parameter_count total_parameters number_of_parameters params_count model_num_parameters",
    "train_samples": "train_samples num_train_samples train_size num_examples n_train dataset_size num_train num_training_samples",
    "val_samples": "val_samples num_val_samples val_size num_eval_samples n_val test_size",
    "train_tokens": "train_tokens dataset_tokens",
    "classes": "classes num_classes num_labels n_classes nclass nb_classes nc",
    "vocab_size": "vocab_size vocab n_vocab vocabulary_size",
    "layers": "layers num_layers n_layer n_layers num_hidden_layers depth nlayers",
    "width": "width hidden_size d_model n_embd hidden_dim embed_dim model_dim emb_dim",
    "loss_function": "loss_function criterion loss_type loss_fn",
    "workers": "workers num_workers dataloader_num_workers",
    "device": "device accelerator",
    "world_size": "world_size num_gpus n_gpu num_processes",
}
_SETTING_WORDS = {word: name for name, line in SETTINGS.items() for word in line.split()}
_SETTING_ORDER = {word: at for line in SETTINGS.values() for at, word in enumerate(line.split())}


# Settings whose value may be a word; all others are numbers or flags.
_WORDED = frozenset({"optimizer", "schedule", "precision", "model", "loss_function", "device", "fp16", "bf16"})


def setting_name(raw: str) -> str | None:
    """The canonical setting a configuration key stands for."""
    return _setting(raw)[0]


def _setting(raw: str) -> tuple[str | None, int]:
    key = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", raw.strip().lstrip("-"))
    parts = [re.sub(r"[^a-z0-9]+", "_", p.lower()).strip("_") for p in re.split(r"[./]", key)]
    for depth, part in enumerate(("_".join(parts[-2:]), parts[-1])):
        if part in _SETTING_WORDS:
            return _SETTING_WORDS[part], _SETTING_ORDER[part] + 50 * max(len(parts) - 1 - depth, 0)
    return None, 0


def settings(config: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The settings that matter for diagnosis, under canonical names."""
    best: dict[str, tuple[int, Scalar]] = {}
    for raw, value in config.items():
        name, rank = _setting(raw)
        if value is None or value == "" or (name == "precision" and _plain(value) in (True, False)):
            continue
        if name is not None and name not in _WORDED and isinstance(_plain(value), str):
            continue
        if name in ("max_steps", "epochs", "warmup") and _plain(value) == -1:
            continue
        if name is not None and (name not in best or rank < best[name][0]):
            best[name] = (rank, _plain(value))
    found = {name: value for name, (_, value) in best.items()}
    if found.get("bf16") is True:
        found.setdefault("precision", "bf16")
    elif found.get("fp16") is True:
        found.setdefault("precision", "fp16")
    return dict(sorted(found.items(), key=lambda item: list(SETTINGS).index(item[0])))


def _plain(value: Scalar) -> Scalar:
    """Numbers written as text become numbers."""
    if not isinstance(value, str):
        return value
    text = value.strip().strip("'\"")
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        number = float(text.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", text) else text)
    except ValueError:
        return text
    return int(number) if number.is_integer() and re.fullmatch(r"[-+]?[\d,]+", text) else number


def parse_overrides(pairs: Iterable[str]) -> dict[str, str]:
    """`--map NAME=COLUMN` options as a table; a malformed one is a ValueError that says so."""
    table: dict[str, str] = {}
    for pair in pairs:
        name, sep, column = pair.partition("=")
        if not sep or not name.strip() or not column.strip():
            raise ValueError(f"--map takes NAME=COLUMN, for example --map loss=my_loss; got {pair!r}")
        table[name.strip()] = column.strip()
    return table
