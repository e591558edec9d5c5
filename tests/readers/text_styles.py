"""Logs as many hands print them: each style writes one known training its own way.

A style returns the text, what must be read from it (canonical name -> [(step, value), ...]) and the axis.
Values are given as the log shows them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

Points = list[tuple[float, float]]
Told = tuple[str, dict[str, Points], str]

STYLES: dict[str, Callable[[], Told]] = {}


def style(write: Callable[[], Told]) -> Callable[[], Told]:
    STYLES[write.__name__] = write
    return write


def loss(step: float) -> float:
    return round(2.3 * math.exp(-step / 400) + 0.1 + 0.03 * math.sin(step * 1.7), 4)


def val(step: float) -> float:
    return round(loss(step) * 1.1 + 0.01, 4)


def acc(step: float) -> float:
    return round(1 - loss(step) / 2.6, 4)


def lr(step: float) -> float:
    return float(f"{1e-3 * (1 - step / 5000):.3e}")


def norm(step: float) -> float:
    return round(1.0 + math.cos(step) ** 2, 3)


STEPS = list(range(0, 1000, 20))
EPOCHS = list(range(1, 13))


def over(steps: list[int], f: Callable[[float], float]) -> Points:
    return [(float(s), f(s)) for s in steps]


@style
def nanogpt() -> Told:
    out = []
    for s in STEPS:
        if s % 200 == 0:
            out.append(f"step {s}: train loss {loss(s):.4f}, val loss {val(s):.4f}")
        out.append(f"iter {s}: loss {loss(s):.4f}, time {97.5 + s % 7:.2f}ms, mfu {12.3:.2f}%")
    expected = {"loss": over(STEPS, loss), "val/loss": over(STEPS[::10], val)}
    expected["step_s"] = [(s, round((97.5 + s % 7) / 1000, 6)) for s in STEPS]
    return "\n".join(out), expected, "step"


@style
def build_nanogpt() -> Told:
    out = ["using device: cuda", "total desired batch size: 524288"]
    for s in STEPS:
        if s % 200 == 0:
            out.append(f"validation loss: {val(s):.4f}")
        out.append(
            f"step {s:5d} | loss: {loss(s):.6f} | lr {lr(s):.4e} | norm: {norm(s):.4f} | dt: 412.11ms | tok/sec: 1271234.50"
        )
    expected = {
        "loss": over(STEPS, loss),
        "val/loss": over(STEPS[::10], val),
        "lr": over(STEPS, lr),
        "grad_norm": over(STEPS, norm),
    }
    return "\n".join(out), expected, "step"


@style
def pytorch_mnist() -> Told:
    out, expected = [], {"loss": [], "val/loss": [], "val/accuracy": []}
    n = 0
    for e in range(1, 6):
        for b in range(0, 60000, 6400):
            n = (e - 1) * 60000 + b
            out.append(f"Train Epoch: {e} [{b}/60000 ({100 * b // 60000}%)]\tLoss: {loss(n / 300):.6f}")
            expected["loss"].append((n, loss(n / 300)))
        out += [
            "",
            f"Test set: Average loss: {val(n / 300):.4f}, Accuracy: {9000 + e}/10000 ({90 + e / 100:.2f}%)",
            "",
        ]
        expected["val/loss"].append((n, val(n / 300)))
        expected["val/accuracy"].append((n, (9000 + e) / 100))
    return "\n".join(out), expected, "step"


@style
def imagenet_example() -> Told:
    out, train, top1 = [], [], []
    n = 0.0
    for e in range(5):
        for b in range(0, 50, 10):
            n = e * 50 + b
            out.append(
                f"Epoch: [{e}][{b:3d}/50]\tTime  0.512 ( 0.534)\tData  0.011 ( 0.012)\tLoss {loss(n):.4e} ({loss(n) + 0.1:.4e})"
                f"\tAcc@1 {100 * acc(n):6.2f} ({50.0:6.2f})\tAcc@5 {99.0:6.2f} ({98.0:6.2f})"
            )
            train.append((n, float(f"{loss(n):.4e}")))
        for b in range(0, 20, 10):
            out.append(
                f"Test: [{b:2d}/20]\tTime  0.2 ( 0.2)\tLoss {9.0:.4e} ({8.0:.4e})\tAcc@1  10.00 ( 11.00)\tAcc@5  20.00 ( 21.00)"
            )
        out.append(f" *   Acc@1 {60 + e:.3f} Acc@5 {80 + e:.3f}")
        top1.append((n, 60.0 + e))
    return "\n".join(out), {"loss": train, "val/loss": [(e * 50 + 40, 9.0) for e in range(5)]}, "step"


@style
def keras_bars() -> Told:
    out = []
    for e in EPOCHS:
        out.append(f"Epoch {e}/12\n")
        for b in (1, 20, 41):
            fill = "=" * (b // 2) + ">" + "." * (30 - b // 2)
            out.append(
                f"{b:2d}/60 [{fill[:30]}] - ETA: {60 - b}s - loss: {loss(e) + 0.5:.4f} - accuracy: {acc(e):.4f}"
                + "\b" * 60
            )
        unit = "2ms" if e % 2 else "951us"
        out.append(
            f"\r60/60 [{'=' * 30}] - 1s {unit}/step - loss: {loss(e):.4f} - accuracy: {acc(e):.4f} - val_loss: {val(e):.4f} - val_accuracy: {acc(e) - 0.01:.4f}\n"
        )
    out.append(
        f"1/9 [==>...........................] - ETA: 0s - loss: 0.9\b\b\b\b9/9 [{'=' * 30}] - 0s 1ms/step - loss: 0.7777 - accuracy: 0.6\n"
    )
    expected = {
        "loss": over(EPOCHS, loss),
        "val/loss": over(EPOCHS, val),
        "accuracy": over(EPOCHS, acc),
        "test/loss": [(12, 0.7777)],
    }
    return "".join(out), expected, "epoch"


@style
def keras3_bars() -> Told:
    out = []
    for e in EPOCHS:
        out.append(f"Epoch {e}/12\n")
        for b in (7, 31):
            out.append(
                f"\r\x1b[1m{b:2d}/60\x1b[0m \x1b[32m━━━━━━━━\x1b[0m\x1b[37m━━━━━━━━━━━━\x1b[0m \x1b[1m1s\x1b[0m 20ms/step - accuracy: {acc(e):.4f} - loss: {loss(e) + 0.4:.4f}"
            )
        out.append(
            f"\r\x1b[1m60/60\x1b[0m \x1b[32m━━━━━━━━━━━━━━━━━━━━\x1b[0m\x1b[37m\x1b[0m \x1b[1m2s\x1b[0m 21ms/step - accuracy: {acc(e):.4f} - loss: {loss(e):.4f} - val_accuracy: {acc(e):.4f} - val_loss: {val(e):.4f}\n"
        )
    return "".join(out), {"loss": over(EPOCHS, loss), "val/loss": over(EPOCHS, val)}, "epoch"


@style
def keras_verbose2() -> Told:
    out = []
    for e in EPOCHS:
        out += [
            f"Epoch {e}/12",
            f"60/60 - 3s - loss: {loss(e):.4f} - accuracy: {acc(e):.4f} - val_loss: {val(e):.4f} - val_accuracy: {acc(e):.4f} - 3s/epoch - 52ms/step",
        ]
    return "\n".join(out), {"loss": over(EPOCHS, loss), "val/loss": over(EPOCHS, val)}, "epoch"


@style
def hf_stdout() -> Told:
    out, expected = (
        [
            "***** Running training *****",
            "  Num examples = 1,200",
            "  Num Epochs = 3",
            "  Instantaneous batch size per device = 8",
        ],
        {"loss": [], "val/loss": []},
    )
    for i in range(1, 31):
        e = round(i * 0.1, 2)
        out.append(f"\r {i}%|█         | {i}/300 [00:{i:02d}<10:00,  2.04it/s]")
        out.append(
            f"\r{{'loss': {loss(20 * i)}, 'grad_norm': {norm(i)}, 'learning_rate': {lr(i)}, 'epoch': {e}}}\n"
        )
        expected["loss"].append((e, loss(20 * i)))
        if i % 10 == 0:
            out.append(
                f"\n{{'eval_loss': {val(20 * i)}, 'eval_accuracy': {acc(i)}, 'eval_runtime': 1.21, 'eval_samples_per_second': 82.1, 'epoch': {e}}}\n"
            )
            expected["val/loss"].append((e, val(20 * i)))
    out.append(
        "{'train_runtime': 120.1, 'train_samples_per_second': 30.0, 'train_loss': 0.77, 'epoch': 3.0}\n"
    )
    return "\n".join(out[:4]) + "\n" + "".join(out[4:]), expected, "epoch"


@style
def lightning_tqdm() -> Told:
    out, points = [], []
    for e in range(4):
        for b in range(0, 101, 20):
            out.append(
                f"\rEpoch {e}: {b:3d}%|{'█' * (b // 10):10s}| {b}/100 [00:01<00:05, 21.3it/s, v_num=3, train_loss={loss(e * 100 + b):.3f}]"
            )
            if b > 0:
                points.append((e, b))
        out.append("\n")
    return "".join(out), {}, "epoch"


@style
def detr() -> Told:
    out, train = [], []
    for e in range(3):
        for b in range(0, 30, 10):
            n = e * 30 + b
            out.append(
                f"Epoch: [{e}]  [{b:2d}/30]  eta: 0:0{3 - b // 10}:10  lr: {0.0001:.6f}  class_error: 98.50  loss: {loss(n):.4f} ({loss(n) + 0.2:.4f})"
                f"  loss_ce: 3.1000 (3.2000)  time: 0.4113  data: 0.0102  max mem: 5324"
            )
            train.append((n, loss(n)))
        out.append(f"Epoch: [{e}] Total time: 0:05:12 (0.4100 s / it)")
    return "\n".join(out), {"loss": train}, "step"


@style
def mmdet() -> Told:
    out, train, mapped = [], [], []
    n = 0
    for e in range(1, 5):
        for b in range(50, 251, 50):
            n = (e - 1) * 250 + b
            out.append(
                f"2023-05-01 12:{e:02d}:{b // 5:02d},123 - mmdet - INFO - Epoch [{e}][{b}/250]\tlr: {lr(n):.3e}, eta: 1 day, 3:13:41, time: 0.558, data_time: 0.051, "
                f"memory: 3817, loss_rpn_cls: 0.5312, loss_bbox: 0.2101, acc: 92.1, loss: {loss(n):.4f}, grad_norm: {norm(n):.4f}"
            )
            train.append((n, loss(n)))
        out.append(
            f"2023-05-01 12:{e:02d}:59,500 - mmdet - INFO - Epoch(val) [{e}][500]\tbbox_mAP: 0.3{e}10, bbox_mAP_50: 0.5{e}00"
        )
        mapped.append((n, float(f"0.3{e}10")))
    return "\n".join(out), {"loss": train}, "step"


@style
def mmengine() -> Told:
    out, train = [], []
    for e in range(1, 5):
        for b in range(50, 251, 50):
            n = (e - 1) * 250 + b
            out.append(
                f"05/01 12:{e:02d}:{b // 5:02d} - mmengine - INFO - Epoch(train)  [{e}][{b:3d}/250]  lr: {lr(n):.4e}  eta: 0:10:21  time: 0.3121  data_time: 0.0121  memory: 5121  grad_norm: {norm(n):.4f}  loss: {loss(n):.4f}"
            )
            train.append((n, loss(n)))
    return "\n".join(out), {"loss": train}, "step"


@style
def timm() -> Told:
    out, train = [], []
    for e in range(3):
        for b in range(0, 1251, 250):
            n = e * 1251 + b
            out.append(
                f"Train: {e} [{b:4d}/1251 ({100 * b // 1251:3d}%)]  Loss: {loss(n / 4):.3g} ({loss(n / 4) + 0.1:.3g})  Time: 0.512s,  500.11/s  (0.512s,  500.11/s)  LR: {1e-3:.3e}  Data: 0.010 (0.012)"
            )
            train.append((n, float(f"{loss(n / 4):.3g}")))
    return "\n".join(out), {"loss": train}, "step"


@style
def megatron() -> Told:
    out, train, norms = [], [], []
    for s in range(10, 510, 10):
        front = f" [2024-01-0{1 + s // 300} 10:{s // 10:02d}:00] iteration {s:8d}/    1000 | consumed samples: {s * 512:12d} | elapsed time per iteration (ms): {2501.1:.1f} | learning rate: {lr(s):.6E} | global batch size:   512 | "
        if s == 250:
            out.append(
                front
                + "loss scale: 65536.0 | number of skipped iterations:  10 | number of nan iterations:   0 |"
            )
            continue
        out.append(
            front
            + f"lm loss: {loss(s):.6E} | loss scale: 65536.0 | grad norm: {norm(s):.3f} | number of skipped iterations:   0 | number of nan iterations:   0 |"
        )
        train.append((s, float(f"{loss(s):.6E}")))
        norms.append((s, norm(s)))
    return "\n".join(out), {"loss": train, "grad_norm": norms}, "step"


@style
def fairseq() -> Told:
    out, train, valid = [], [], []
    n = 0
    for e in range(1, 6):
        for b in (100, 200):
            n = (e - 1) * 282 + b
            out.append(
                f"2023-06-13 17:3{e}:08 | INFO | train_inner | epoch {e:03d}:    {b} / 282 loss={loss(n)}, nll_loss=1.236, ppl=8.86, wps=72384.3, ups=1.21, wpb=59997.9, bsz=2186.3, num_updates={n}, lr={lr(n)}, gnorm={norm(n)}, clip=0, loss_scale=32768, train_wall=48, wall=0"
            )
            train.append((n, loss(n)))
        n = e * 282
        out.append(
            f"2023-06-13 17:3{e}:40 | INFO | valid | epoch {e:03d} | valid on 'valid' subset | loss {val(n)} | nll_loss 11.546 | ppl 6550.94 | bleu 29.52 | num_updates {n} | best_bleu 30.53"
        )
        out.append(
            f"2023-06-13 17:3{e}:50 | INFO | train | epoch {e:03d} | loss {loss(n) + 1} | nll_loss 1.23 | ppl 8.82 | wps 106814 | num_updates {n} | lr {lr(n)} | gnorm 0.485 | train_wall 129 | wall 0"
        )
        valid.append((n, val(n)))
    return "\n".join(out), {"loss": train, "val/loss": valid}, "step"


@style
def fastai_table() -> Told:
    out = ["epoch     train_loss  valid_loss  accuracy  time    "]
    for e in EPOCHS:
        out.append(f"{e - 1:<10d}{loss(e):<12.6f}{val(e):<12.6f}{acc(e):<10.6f}00:{10 + e}     ")
    shift = [(e - 1, loss(e)) for e in EPOCHS]
    return "\n".join(out), {"loss": shift, "val/loss": [(e - 1, val(e)) for e in EPOCHS]}, "epoch"


@style
def yolo_console() -> Told:
    out = ["", "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size"]
    for e in EPOCHS:
        for b in (1, 8, 16):
            out.append(
                f"\r{e:9d}/12      2.31G{loss(e) if b == 16 else 9.0:11.4g}{val(e):11.4g}      1.234         21        640: {100 * b // 16:3d}%|{'█' * (b // 2):10s}| {b}/16 [00:02<00:01,  7.21it/s]"
            )
        out.append(
            "\n                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██████████| 4/4 [00:00<00:00,  5.1it/s]\n"
        )
        out.append(
            f"                   all        128        929      0.{600 + e}      0.537      0.{610 + e}      0.446\n"
        )
    return "\n".join(out[:2]) + "\n" + "".join(out[2:]), {}, "epoch"


@style
def xgboost() -> Told:
    rows = [f"[{i}]\ttrain-logloss:{loss(i * 20):.5f}\teval-logloss:{val(i * 20):.5f}" for i in range(40)]
    expected = {
        "loss": [(i, float(f"{loss(i * 20):.5f}")) for i in range(40)],
        "val/loss": [(i, float(f"{val(i * 20):.5f}")) for i in range(40)],
    }
    return "\n".join(rows), expected, "step"


@style
def stable_baselines() -> Told:
    out, reward = [], []
    for i in range(1, 9):
        out += [
            "-----------------------------------------",
            "| rollout/                |             |",
            f"|    ep_len_mean          | {20 + i:<11.1f} |",
            f"|    ep_rew_mean          | {20.5 + i:<11.1f} |",
            "| time/                   |             |",
            "|    fps                  | 1234        |",
            f"|    iterations           | {i:<11d} |",
            f"|    total_timesteps      | {2048 * i:<11d} |",
        ]
        if i > 1:
            out += [
                "| train/                  |             |",
                f"|    approx_kl            | {0.01 + i / 1000:<11.5f} |",
                f"|    loss                 | {loss(i):<11.4f} |",
                "|    learning_rate        | 0.0003      |",
            ]
        out.append("-----------------------------------------")
        reward.append((2048 * i, 20.5 + i))
    return "\n".join(out), {"reward": reward, "loss": [(2048 * i, loss(i)) for i in range(2, 9)]}, "step"


@style
def torchtitan() -> Told:
    out = []
    for s in STEPS[1:]:
        out.append(
            f"[rank0]:2024-06-03 10:00:{s % 60:02d},201 - root - INFO - \x1b[36mstep: {s:2d}  \x1b[32mloss: {loss(s):7.4f}  \x1b[33mmemory: 22.25GiB(23.42%)  \x1b[34mtps: 3,104  \x1b[35mmfu: 18.79%\x1b[39m"
        )
    expected = {"loss": over(STEPS[1:], loss), "tokens_per_s": [(s, 3104.0) for s in STEPS[1:]]}
    return "\n".join(out), expected, "step"


@style
def llm_foundry() -> Told:
    out = []
    for s in STEPS[1:]:
        out += [
            f"[batch={s}/4800]:",
            f"\t Train time/batch: {s - 1}",
            f"\t Train loss/train/total: {loss(s):.4f}",
            f"\t Train metrics/train/LanguagePerplexity: {math.exp(loss(s)):.4f}",
            f"\t Train lr-DecoupledAdamW/group0: {lr(s)}",
        ]
    return "\n".join(out), {"loss": over(STEPS[1:], loss)}, "step"


@style
def absl_clu() -> Told:
    out = []
    for s in STEPS[1:]:
        out.append(
            f"I0104 10:0{s % 9}:00.123456 140231 logging_writer.py:48] [{s}] learning_rate={lr(s)}, loss={loss(s)}, steps_per_sec=12.3"
        )
        if s % 200 == 0:
            out.append(
                f"I0104 10:0{s % 9}:01.123456 140231 logging_writer.py:48] [{s}] eval_accuracy={acc(s)}, eval_loss={val(s)}"
            )
    return (
        "\n".join(out),
        {
            "loss": over(STEPS[1:], loss),
            "val/loss": over([s for s in STEPS[1:] if s % 200 == 0], val),
            "lr": over(STEPS[1:], lr),
        },
        "step",
    )


@style
def tf_estimator() -> Told:
    out = []
    for s in STEPS:
        out.append(f"INFO:tensorflow:global_step/sec: {130.1 + s % 3:.3f}")
        out.append(f"INFO:tensorflow:loss = {loss(s)}, step = {s} (0.768 sec)")
    return "\n".join(out), {"loss": over(STEPS, loss)}, "step"


@style
def caffe() -> Told:
    out = []
    for s in STEPS:
        out.append(f"I0425 10:00:{s % 60:02d}.123 9999 solver.cpp:228] Iteration {s}, loss = {loss(s)}")
        out.append(f"I0425 10:00:{s % 60:02d}.123 9999 sgd_solver.cpp:106] Iteration {s}, lr = {lr(s)}")
    return "\n".join(out), {"loss": over(STEPS, loss), "lr": over(STEPS, lr)}, "step"


@style
def paddle() -> Told:
    rows = [
        f"global step {s}, epoch: {1 + s // 400}, batch: {s % 400}, loss: {loss(s):.5f}, accuracy: {acc(s):.5f}, speed: 3.21 step/s"
        for s in STEPS
    ]
    return "\n".join(rows), {"loss": over(STEPS, loss), "accuracy": over(STEPS, acc)}, "step"


@style
def prose_epochs() -> Told:
    rows = []
    for e in EPOCHS:
        rows += [
            f"Epoch {e}/12",
            "-" * 10,
            f"train Loss: {loss(e):.4f} Acc: {acc(e):.4f}",
            f"val Loss: {val(e):.4f} Acc: {acc(e) - 0.05:.4f}",
            "",
        ]
    rows += ["Training complete in 12m 3s", "Best val Acc: 0.812345"]
    return (
        "\n".join(rows),
        {"loss": over(EPOCHS, loss), "val/loss": over(EPOCHS, val), "accuracy": over(EPOCHS, acc)},
        "epoch",
    )


@style
def sections() -> Told:
    rows = []
    for e in EPOCHS:
        rows += [
            f"===== Epoch {e} =====",
            "Training:",
            f"  loss = {loss(e):.4f}",
            f"  accuracy = {acc(e):.4f}",
            "Validation:",
            f"  loss = {val(e):.4f}",
            f"  accuracy = {acc(e) - 0.02:.4f}",
        ]
    return "\n".join(rows), {"loss": over(EPOCHS, loss), "val/loss": over(EPOCHS, val)}, "epoch"


@style
def json_after_prefix() -> Told:
    rows = [
        f'2024-02-01 10:00:00.{s:06d} INFO train.py:88 {{"step": {s}, "loss": {loss(s)}, "lr": {lr(s)}}}'
        for s in STEPS
    ]
    return "\n".join(rows), {"loss": over(STEPS, loss), "lr": over(STEPS, lr)}, "step"


@style
def nan_midway() -> Told:
    rows = [
        f"step={s} loss={loss(s) if s < 500 else 'nan'} grad_norm={norm(s) if s < 480 else 'inf'}"
        for s in STEPS
    ]
    expected = {
        "loss": [(s, loss(s) if s < 500 else math.nan) for s in STEPS],
        "grad_norm": [(s, norm(s) if s < 480 else math.inf) for s in STEPS],
    }
    return "\n".join(rows), expected, "step"


@style
def thousands() -> Told:
    rows = [f"Step {s * 100:,}/100,000 - loss: {loss(s):.4f} - tokens: {s * 1_048_576:,}" for s in STEPS]
    return "\n".join(rows), {"loss": [(s * 100, loss(s)) for s in STEPS]}, "step"


@style
def spaced_sentences() -> Told:
    rows = [
        f"Finished epoch {e} in 12.3 seconds with an average training loss of {loss(e):.4f} and validation loss of {val(e):.4f}"
        for e in EPOCHS
    ]
    return "\n".join(rows), {"loss": over(EPOCHS, loss), "val/loss": over(EPOCHS, val)}, "epoch"


@style
def markdown_table() -> Told:
    rows = ["| epoch | train_loss | val_loss | lr |", "|---|---|---|---|"]
    rows += [f"| {e} | {loss(e):.4f} | {val(e):.4f} | {lr(e):.2e} |" for e in EPOCHS]
    return "\n".join(rows), {"loss": over(EPOCHS, loss), "val/loss": over(EPOCHS, val)}, "epoch"


@style
def nnunet() -> Told:
    rows = []
    for e in EPOCHS:
        rows += [
            f"2024-03-01 10:00:00.{e:06d}: Epoch {e}",
            f"2024-03-01 10:00:00.{e:06d}: Current learning rate: {lr(e)}",
            f"2024-03-01 10:01:00.{e:06d}: train_loss {-loss(e)}",
            f"2024-03-01 10:01:00.{e:06d}: val_loss {-val(e)}",
            f"2024-03-01 10:01:00.{e:06d}: Epoch time: 60.1 s",
        ]
    return (
        "\n".join(rows),
        {
            "loss": [(e, -loss(e)) for e in EPOCHS],
            "val/loss": [(e, -val(e)) for e in EPOCHS],
            "lr": over(EPOCHS, lr),
        },
        "epoch",
    )


@style
def interleaved_ranks() -> Told:
    rows = [f"[rank {r}] step {s} loss {loss(s) + r / 10:.4f}" for s in STEPS for r in (0, 1, 2, 3)]
    return "\n".join(rows), {"loss": over(STEPS, loss)}, "step"


@style
def restarted() -> Told:
    rows = [f"Epoch {e}: loss={loss(e) + 5:.4f}" for e in range(4)]
    return "\n".join(rows), {"loss": [(e, round(loss(e) + 5, 4)) for e in range(4)]}, "epoch"


@style
def source_on_top() -> Told:
    code = [
        "import torch",
        "class Config:",
        "    lr: float = 0.0036",
        "    num_iterations : int = 5100 # number of steps",
        "def step(loss, lr=0.1):",
        "    loss = loss * 2.0",
        "    print(f'step {s}: loss {loss:.4f}')",
        "=" * 80,
    ]
    rows = [f"step:{s}/1000 train_loss:{loss(s):.4f} train_time:{s * 80}ms step_avg:80.00ms" for s in STEPS]
    return "\n".join(code + rows), {"loss": over(STEPS, loss)}, "step"


@style
def chinese_gbk() -> Told:
    rows = [
        f"2025-06-02 14:22:{e:02d},329 - INFO - 第{e}轮 Epoch {e}/12, 训练 Train Loss: {loss(e):.4f}, Test Acc: {100 * acc(e):.2f}%"
        for e in EPOCHS
    ]
    return "\n".join(rows), {"loss": over(EPOCHS, loss)}, "epoch"


@style
def cleanrl() -> Told:
    rows = [f"global_step={s}, episodic_return={20 + s / 10}" for s in STEPS]
    return "\n".join(rows), {"reward": [(s, 20 + s / 10) for s in STEPS]}, "step"


@style
def gan_pairs() -> Told:
    rows = [
        f"[{e}/12][{b}/40] Loss_D: {loss(e * 40 + b):.4f} Loss_G: {val(e * 40 + b):.4f} D(x): 0.6123 D(G(z)): 0.3021 / 0.2011"
        for e in range(12)
        for b in range(0, 40, 10)
    ]
    return (
        "\n".join(rows),
        {"loss/d": [(e * 40 + b, loss(e * 40 + b)) for e in range(12) for b in range(0, 40, 10)]},
        "step",
    )


@style
def split_said_once() -> Told:
    rows = []
    for e in EPOCHS:
        rows.append(f"18:{e:02d}:47 [Epoch: {e:02d}] Train acc: {acc(e):.4f} | loss: {loss(e):.4f}")
        rows.append(f"18:{e:02d}:59 [Epoch: {e:02d}] Valid acc: {acc(e) - 0.02:.4f} | loss: {val(e):.4f}")
    return (
        "\n".join(rows),
        {"loss": over(EPOCHS, loss), "val/loss": over(EPOCHS, val), "accuracy": over(EPOCHS, acc)},
        "epoch",
    )


@style
def split_after_the_epoch() -> Told:
    rows = []
    for e in EPOCHS:
        rows.append(
            f"2024-01-01 10:00:{e:02d} - Epoch {e} Training - Loss: {loss(e):.4f}, Acc: {acc(e):.4f}, Time: 16.9s"
        )
        rows.append(
            f"2024-01-01 10:00:{e:02d} - Epoch {e} Validation - Loss: {val(e):.4f}, Acc: {acc(e) - 0.1:.4f}"
        )
    return (
        "\n".join(rows),
        {"loss": over(EPOCHS, loss), "val/loss": over(EPOCHS, val), "accuracy": over(EPOCHS, acc)},
        "epoch",
    )


@style
def hits_of_total() -> Told:
    rows = []
    for e in EPOCHS:
        rows += [
            f"epoch   {e}",
            f"loss: {loss(e):.6f}",
            f"test accuracy: {100 * acc(e):.2f}%, ({1000 * e}/2466133)",
        ]
    return (
        "\n".join(rows),
        {"loss": over(EPOCHS, loss), "val/accuracy": [(e, float(f"{100 * acc(e):.2f}")) for e in EPOCHS]},
        "epoch",
    )


@style
def bars_and_bracketed_epochs() -> Told:
    out = []
    for e in EPOCHS:
        for b in range(1, 8):
            out.append(
                f"\rTrain Loss: {loss(e) + 1 / b:.4f}:  {100 * b // 7}%|{'█' * b:10s}| {b}/7 [00:00<00:03,  1.60step/s]"
            )
        out.append(f"\n[{e}/100] Train Loss: {loss(e):.4f}, Valid Loss: {val(e):.4f}\n")
    return "".join(out), {"loss": over(EPOCHS, loss), "val/loss": over(EPOCHS, val)}, "epoch"


def _by_epoch(line: str) -> Told:
    epochs = list(range(10))
    expected = {"loss": over(epochs, loss), "val/loss": over(epochs, val), "val/accuracy": over(epochs, acc)}
    filled = [line.format(e=e, loss=loss(e), val=val(e), acc=acc(e)) for e in epochs]
    return "\n".join(filled), expected, "epoch"


@style
def letter_epochs() -> Told:
    return _by_epoch("E{e} loss {loss:.4f} vloss {val:.4f} vacc {acc:.4f}")


@style
def letter_epochs_apart() -> Told:
    return _by_epoch("E {e} | tr_loss {loss:.4f} va_loss {val:.4f} va_acc {acc:.4f}")


@style
def letter_epochs_behind_a_clock() -> Told:
    return _by_epoch("[12:00:0{e}] E{e}: loss={loss:.4f}, va_loss={val:.4f}, va_acc={acc:.4f}")


@style
def short_epochs() -> Told:
    return _by_epoch("ep{e} loss {loss:.4f} va_loss {val:.4f} va_acc {acc:.4f}")


def _with_norm(line: str) -> Told:
    expected = {"loss": over(STEPS, loss), "grad_norm": over(STEPS, norm), "lr": over(STEPS, lr)}
    filled = [line.format(s=s, loss=loss(s), norm=norm(s), lr=lr(s)) for s in STEPS]
    return "\n".join(filled), expected, "step"


@style
def norm_between_bars() -> Told:
    return _with_norm("it {s} loss={loss:.4f} |g|={norm:.3f} lr={lr:.3e}")


@style
def norm_between_double_bars() -> Told:
    return _with_norm("step {s} | loss {loss:.4f} | ||grad|| {norm:.3f} | lr {lr:.3e}")


@style
def terms_in_brackets() -> Told:
    out = [
        f"====> Epoch: {e} Average loss: {loss(e):.4f} (recon {val(e):.4f}, kl {acc(e):.4f}) Test loss: {val(e):.4f}"
        for e in EPOCHS
    ]
    expected = {"loss": over(EPOCHS, loss), "loss/recon": over(EPOCHS, val), "kl": over(EPOCHS, acc)}
    return "\n".join(out), {**expected, "val/loss": over(EPOCHS, val)}, "epoch"


@style
def terms_of_two_losses() -> Told:
    out = [
        f"step {s} loss {loss(s):.4f} (pix {acc(s):.4f}, tv {norm(s):.3f})"
        f" val loss {val(s):.4f} (pix {acc(s):.4f}, tv {norm(s):.3f})"
        for s in STEPS
    ]
    expected = {"loss/pix": over(STEPS, acc), "val/loss/tv": over(STEPS, norm), "val/loss": over(STEPS, val)}
    return "\n".join(out), expected, "step"


@style
def memory_with_a_unit() -> Told:
    out = [f"step {s} loss {loss(s):.4f} rss {100 + s} MB lr {lr(s):.3e}" for s in STEPS]
    expected = {"loss": over(STEPS, loss), "lr": over(STEPS, lr)}
    return "\n".join(out), {**expected, "rss_bytes": [(s, (100 + s) * 1e6) for s in STEPS]}, "step"
