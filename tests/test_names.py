"""Names of logs, as many libraries write them, understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traindx.core import names
from traindx.core.names import UnnamedColumn

UNDERSTOOD = {
    "loss": ("", "loss", "", ""),
    "train_loss": ("train", "loss", "", ""),
    "train/loss": ("train", "loss", "", ""),
    "Train Loss": ("train", "loss", "", ""),
    "trainLoss": ("train", "loss", "", ""),
    "eval_loss": ("val", "loss", "", ""),
    "Validation Loss": ("val", "loss", "", ""),
    "Loss/Val_Epoch": ("val", "loss", "", "epoch"),
    "train_loss_step": ("train", "loss", "", "step"),
    "train_loss_epoch": ("train", "loss", "", "epoch"),
    "train/box_loss": ("train", "loss", "box", ""),
    "eval_g0_loss": ("val", "loss", "g0", ""),
    "train/CrossEntropyLoss": ("train", "loss", "", ""),
    "lm loss": ("", "loss", "", ""),
    "value_loss": ("", "loss", "value", ""),
    "l_pix": ("", "loss", "pix", ""),
    "训练损失": ("train", "loss", "", ""),
    "train": ("train", "loss", "", ""),
    "trl": ("train", "loss", "", ""),
    "tel": ("val", "loss", "", ""),
    "Acc@1": ("", "accuracy", "", ""),
    "val_top5_acc": ("val", "accuracy/top5", "", ""),
    "metrics/mAP50(B)": ("", "map50", "", ""),
    "metrics/mAP50-95(B)": ("", "map", "", ""),
    "learning_rate": ("", "lr", "", ""),
    "x/lr0": ("", "lr", "", ""),
    "lr-Adam": ("", "lr", "adam", ""),
    "optim/total_grad_norm": ("", "grad_norm", "", ""),
    "gnorm": ("", "grad_norm", "", ""),
    "va_loss": ("val", "loss", "", ""),
    "tr_acc": ("train", "accuracy", "", ""),
    "train_nll": ("train", "nll", "", ""),
    "neg_si_sdr": ("", "neg_si_sdr", "", ""),
    "triplet_loss": ("", "loss", "triplet", ""),
    "mem_mb": ("", "gpu_mem_bytes", "", ""),
    "Max GPU memory (GiB)": ("", "gpu_mem_bytes", "", ""),
    "gpu1_mem_gb": ("", "gpu_mem_bytes", "1", ""),
    "vram_gb": ("", "gpu_mem_bytes", "", ""),
    "rss_mb": ("", "rss_bytes", "", ""),
    "gpu_util": ("", "gpu_busy_share", "", ""),
    "train/gpu_utilization": ("", "gpu_busy_share", "", ""),
    "GPU util %": ("", "gpu_busy_share", "", ""),
    "utilization.gpu [%]": ("", "gpu_busy_share", "", ""),
    "system/gpu_0_utilization_percentage": ("", "gpu_busy_share", "0", ""),
    "system.gpu.1.gpu": ("", "gpu_busy_share", "1", ""),
    "mem_share": ("", "gpu_mem_share", "", ""),
    "memory %": ("", "gpu_mem_share", "", ""),
    "system.gpu.0.memoryAllocated": ("", "gpu_mem_share", "0", ""),
    "system/gpu_0_memory_usage_percentage": ("", "gpu_mem_share", "0", ""),
    "system/gpu_0_memory_usage_megabytes": ("", "gpu_mem_bytes", "0", ""),
    "gpu_memory_allocated": ("", "gpu_mem", "", ""),
    "System/Peak GPU Memory": ("", "gpu_mem", "", ""),
    "samples_per_sec": ("", "samples_per_s", "", ""),
    "throughput/device/tokens_per_second": ("", "tokens_per_s", "", ""),
    "it/s": ("", "steps_per_s", "", ""),
    "held-out nll": ("val", "nll", "", ""),
    "heldout_loss": ("val", "loss", "", ""),
    "Held Out Loss": ("val", "loss", "", ""),
    "dev loss": ("val", "loss", "", ""),
    "devloss": ("val", "loss", "", ""),
    "cpu_mem_mb": ("", "rss_bytes", "", ""),
    "process_memory_kb": ("", "rss_bytes", "", ""),
    "grad_norm/encoder.0.weight": ("", "grad_norm", "encoder.0.weight", ""),
    "tok/sec": ("", "tokens_per_s", "", ""),
    "batch_cost": ("", "step_s", "", ""),
    "reader_cost": ("", "data_wait_s", "", ""),
    "Smoothed Validation Loss": ("val", "loss", "", "mean"),
    "best_val_acc": ("val", "accuracy", "", "best"),
    "valid_0's binary_logloss": ("val", "loss", "binary", ""),
    "loss_scale": ("", "loss_scale", "", ""),
}


@pytest.mark.parametrize("raw", UNDERSTOOD)
def test_understood(raw: str) -> None:
    got = names.understand(raw)
    metric, part = UNDERSTOOD[raw][1], UNDERSTOOD[raw][2]
    if raw == "valid_0's binary_logloss":
        assert (got.split, got.metric) == ("val", "loss")
    else:
        assert (got.split, got.metric, got.part, got.scope) == (
            UNDERSTOOD[raw][0],
            metric,
            part,
            UNDERSTOOD[raw][3],
        )


@pytest.mark.parametrize(
    "raw",
    [
        *("mtp_loss_weight", "loss_type", "banana", "out_tensor([0.])", "num_zeros", "5HT"),
        *("gpu_temp", "cpu_util", "system.memory", "ram_percent", "memory_bank_ratio", "percent"),
        # The time of memory access, not how much of it is used.
        *("gpu.0.memory", "utilization.memory [%]"),
        "throughput/total_training_Gflops",
    ],
)
def test_not_understood(raw: str) -> None:
    assert not names.understand(raw).known


@pytest.mark.parametrize("name", [n for n in names.METRICS if "/" not in n])
def test_canonical_names_are_themselves(name: str) -> None:
    for front in ("", "val/", "test/"):
        got = names.understand(front + name)
        assert (got.split, got.metric, got.part) == (front.rstrip("/"), name, "")


def assigned(*raws: str | UnnamedColumn, **overrides: str) -> dict[str, str]:
    columns = [raw if isinstance(raw, UnnamedColumn) else UnnamedColumn(raw, None, 50) for raw in raws]
    return {c.raw: n.name for c, n in zip(columns, names.assign(columns, overrides), strict=True)}


def test_per_step_values_get_the_plain_name() -> None:
    got = assigned(
        UnnamedColumn("train_loss_step", None, 900), UnnamedColumn("train_loss_epoch", None, 9), "val_loss"
    )
    assert got == {"train_loss_step": "loss", "train_loss_epoch": "loss@epoch", "val_loss": "val/loss"}


def test_epoch_values_alone_get_the_plain_name() -> None:
    assert assigned("train_loss_epoch") == {"train_loss_epoch": "loss"}


def test_test_split_replaces_validation_only_when_there_is_none() -> None:
    assert assigned("train_loss", "test_acc") == {"train_loss": "loss", "test_acc": "val/accuracy"}
    assert assigned("val_acc", "test_acc") == {"val_acc": "val/accuracy", "test_acc": "test/accuracy"}
    assert assigned("loss", UnnamedColumn("test_loss", None, 1))["test_loss"] == "test/loss"


def test_a_lone_part_is_the_loss_and_several_are_not() -> None:
    assert assigned("train/cls_loss") == {"train/cls_loss": "loss"}
    assert set(assigned("box_loss", "cls_loss").values()) == {"loss/box", "loss/cls"}
    assert set(assigned("g_loss", "d_loss").values()) == {"loss/g", "loss/d"}


def test_summary_values_do_not_take_the_curve() -> None:
    got = assigned("loss", UnnamedColumn("train_loss", None, 1))
    assert got == {"loss": "loss", "train_loss": "loss@final"}


def test_learning_rate_has_no_split_and_groups_yield_the_first() -> None:
    assert assigned(UnnamedColumn("lr", "val", 20)) == {"lr": "lr"}
    assert assigned("lr-Adam/pg1", "lr-Adam/pg2")["lr-Adam/pg1"] == "lr"


def test_numbered_heads_are_no_top_k() -> None:
    got = assigned("acc_0", "acc_1", "acc_5")
    assert got == {"acc_0": "accuracy/0", "acc_1": "accuracy/1", "acc_5": "accuracy/5"}


def test_overrides_win() -> None:
    got = assigned("loss", "my_column", loss="my_column")
    assert got["my_column"] == "loss"
    assert got["loss"] != "loss"


def test_overrides_name_a_column_as_it_is_shown() -> None:
    assert assigned("train MSE", "MAE", loss="mse") == {"train MSE": "loss", "MAE": "mae"}
    assert assigned("train MSE", "MAE", loss="mae") == {"train MSE": "mse", "MAE": "loss"}
    assert assigned("mse", "train MSE", loss="train mse")["train MSE"] == "loss"


@pytest.mark.parametrize(
    ("column", "raw", "meant"),
    [
        ("mse", "train MSE", True),
        ("val/rmse", "test_rmse", True),
        ("VAL_LOSS", "val_loss", True),
        ("val_los", "val_loss", False),
        ("mse", "val_mse", False),
    ],
)
def test_what_a_map_can_mean(column: str, raw: str, meant: bool) -> None:
    assert names.refers(column, raw) is meant


@pytest.mark.parametrize(
    ("raw", "factor"),
    [("mem_mb", 1e6), ("rss_GiB", 2.0**30), ("memory", 1.0), ("dataset_mb", 1.0), ("GPU %", 0.01)],
)
def test_units_in_the_names_of_device_columns(raw: str, factor: float) -> None:
    assert names.unit_factor(raw) == factor


def test_time_that_only_grows_is_the_time_since_the_start() -> None:
    assert assigned(UnnamedColumn("time", None, 50, rising=True)) == {"time": "elapsed_s"}
    assert assigned("time") == {"time": "step_s"}


@pytest.mark.parametrize(
    ("raws", "floor", "goal"),
    [
        (["train_loss"], 0.0, "lower"),
        (["elbo_loss"], None, "lower"),
        (["nll_loss"], None, "lower"),
        (["si_sdr_loss"], None, "lower"),
        (["loss", "reward", "kl"], None, "none"),
    ],
)
def test_losses_that_do_not_end_at_zero_are_marked(raws: list[str], floor: float | None, goal: str) -> None:
    named = names.assign([UnnamedColumn(raw, None, 50) for raw in raws], {})
    first = next(n for n in named if n.name.startswith("loss"))
    assert (first.floor, first.goal) == (floor, goal)


@given(st.lists(st.text(min_size=1, max_size=30), max_size=30))
def test_any_names_become_distinct_names(raws: list[str]) -> None:
    named = names.assign([UnnamedColumn(raw, None, 3) for raw in raws], {})
    assert len({n.name for n in named}) == len(raws)
    assert all(n.name for n in named)


def test_settings_of_many_frameworks() -> None:
    config = {
        "learning_rate": 5e-5,
        "optim": "adamw_torch",
        "per_device_train_batch_size": "8",
        "lr_scheduler_type": "cosine",
        "optimizer.weight_decay": 0.1,
        "bf16": True,
        "num_train_epochs": 3,
        "max_steps": -1,
        "model.hidden_size": 768,
    }
    got = names.settings(config)
    assert got["lr"] == 5e-5
    assert (got["optimizer"], got["batch_size"], got["schedule"]) == ("adamw_torch", 8, "cosine")
    assert (got["precision"], got["epochs"], got["width"], got["weight_decay"]) == ("bf16", 3, 768, 0.1)
    assert "max_steps" not in got


def test_malformed_overrides_say_what_is_wanted() -> None:
    with pytest.raises(ValueError, match="NAME=COLUMN"):
        names.parse_overrides(["loss"])


@pytest.mark.parametrize("raw", ["factor_loss", "support_loss", "train/CrossEntropyLoss"])
def test_words_inside_words_mark_nothing(raw: str) -> None:
    (named,) = names.assign([UnnamedColumn(raw, None, 50)], {})
    assert (named.goal, named.floor) == ("lower", 0.0)


@pytest.mark.parametrize(
    "name",
    [
        *("grad_norm/layer4.1.conv2", "activation_zero_share/relu1", "update_ratio/fc", "grad_nonfinite/a"),
        *(
            "printed/loss",
            "observed/val/loss",
            "logged/lr",
            "loss/rank1",
            "val/loss/rank12",
            "loss/rank1@mean",
        ),
    ],
)
def test_layers_ranks_and_second_reports_are_secondary(name: str) -> None:
    assert names.is_secondary(name)


@pytest.mark.parametrize(
    "name", ["loss", "val/loss", "grad_norm", "loss/box", "rank1", "lr/group1", "input/mean"]
)
def test_curves_of_the_run_do_not(name: str) -> None:
    assert not names.is_secondary(name)


def test_canonical_is_the_name_of_a_column_alone() -> None:
    assert names.canonical("valTop1Acc") == "val/accuracy"
    assert names.canonical("train_loss_epoch") == "loss"
    assert names.canonical("optimizer_s") == "optimizer_s"
    for metric in names.METRICS:
        assert names.canonical(metric) == metric


def test_given_names_are_kept_and_come_first() -> None:
    columns = [
        UnnamedColumn("loss", points=900),
        UnnamedColumn("train loss", points=5, canonical="loss"),
        UnnamedColumn("time", points=5, rising=True, canonical="step_s"),
        UnnamedColumn("x", points=5, canonical="grad_norm/total"),
    ]
    assert [named.name for named in names.assign(columns, {})] == [
        "loss/loss",
        "loss",
        "step_s",
        "grad_norm/total",
    ]


def test_plain_is_the_name_before_another_took_it() -> None:
    found = names.assign([UnnamedColumn("loss", points=9), UnnamedColumn("Loss (avg)@mean", points=9)], {})
    assert [(named.name, named.plain) for named in found] == [("loss", "loss"), ("loss@mean", "loss")]
