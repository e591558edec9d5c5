"""A change becomes a small edit: what goes in, which lines come out."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from difflib import ndiff

import pytest

from traindx.core.nouns import Run, Scalar
from traindx.experiment.edit import Edited, Instruction, edit_for, edit_for_all
from traindx.experiment.runtime.change import Change
from traindx.source.edits import edited
from traindx.source.script import parse_script

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

x, y = torch.randn(64, 4), torch.randn(64, 1)
"""
MODEL = "model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))\n"
LOADER = "loader = DataLoader(TensorDataset(x, y), batch_size=16)\n"
SGD = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
LOOP = """\
for epoch in range(3):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward()
        optimizer.step()
"""
PLAIN = HEAD + MODEL + LOADER + SGD + LOOP


def asked(text: str) -> Change:
    """`scale_lr factor=0.1` as a change."""
    id, *words = text.split()
    values: dict[str, Scalar] = {}
    for word in words:
        name, _, value = word.partition("=")
        word = value.isidentifier() and value not in ("True", "False")
        values[name] = value if word else ast.literal_eval(value)
    return Change(id, values)


def edit(
    source: str, change: str, run: Run | None = None, args: tuple[str, ...] = ()
) -> Edited | Instruction:
    return edit_for(parse_script(source), asked(change), run=run, args=args)


def changed(source: str, change: str, **given: object) -> list[str]:
    """The lines that an edit takes out (-) and puts in (+)."""
    made = edit(source, change, **given)  # type: ignore[arg-type]
    assert isinstance(made, Edited), made
    assert edited(source, made.edits) == made.sources["train.py"], "lines and text must say the same"
    ast.parse(made.sources["train.py"])
    lines = ndiff(source.splitlines(), made.sources["train.py"].splitlines())
    return [line[0] + line[2:].strip() for line in lines if line[0] in "+-"]


def with_(**parts: str) -> str:
    """The plain script with other parts: `optimizer=...` takes the place of its line."""
    texts: Mapping[str, str] = {"model": MODEL, "loader": LOADER, "optimizer": SGD, "loop": LOOP, **parts}
    return HEAD + "".join(
        texts[name].rstrip("\n") + "\n" for name in ("model", "loader", "optimizer", "loop")
    )


@pytest.mark.parametrize(
    ("optimizer", "change", "line"),
    [
        ("optimizer = torch.optim.SGD(model.parameters(), lr=0.1)", "scale_lr factor=0.1", "lr=0.01)"),
        ("optimizer = torch.optim.SGD(model.parameters(), 0.1)", "scale_lr factor=0.1", "(), 0.01)"),
        ("optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)", "scale_lr factor=0.1", "lr=1e-4)"),
        ("optimizer = torch.optim.Adam(model.parameters())", "scale_lr factor=10", "(), lr=0.01)"),
        (
            "LR = 3e-4\noptimizer = torch.optim.AdamW(model.parameters(), lr=LR)",
            "set_lr value=0.001",
            "LR = 1e-3",
        ),
        (
            "cfg = {'lr': 0.5, 'wd': 0.1}\noptimizer = torch.optim.SGD(model.parameters(), lr=cfg['lr'])",
            "scale_lr factor=0.1",
            "cfg = {'lr': 0.05, 'wd': 0.1}",
        ),
        (
            "import math\noptimizer = torch.optim.SGD(model.parameters(), lr=math.sqrt(len(x)))",
            "scale_lr factor=0.1",
            "lr=math.sqrt(len(x)) * 0.1)",
        ),
        (
            "import math\noptimizer = torch.optim.SGD(model.parameters(), lr=math.pi - len(x))",
            "scale_lr factor=0.1",
            "lr=(math.pi - len(x)) * 0.1)",
        ),
        (
            "optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.99)",
            "set_momentum value=0.9",
            "momentum=0.9)",
        ),
        (
            "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
            "set_momentum value=0.9",
            ", momentum=0.9)",
        ),
        (
            "optimizer = torch.optim.Adam(model.parameters(), lr=0.1)",
            "set_betas beta1=0.9 beta2=0.95",
            "lr=0.1, betas=(0.9, 0.95))",
        ),
        (
            "optimizer = torch.optim.Adam(model.parameters(), lr=0.1, betas=(0.5, 0.9))",
            "set_momentum value=0.9",
            "betas=(0.9, 0.9))",
        ),
        (
            "optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=1.0)",
            "set_weight_decay value=0.01",
            "weight_decay=0.01)",
        ),
        (
            "optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)",
            "swap_optimizer name=adamw lr=0.001",
            "torch.optim.AdamW(model.parameters(), lr=0.001)",
        ),
        (
            "from torch.optim import SGD\noptimizer = SGD(model.parameters(), lr=0.1)",
            "swap_optimizer name=adam",
            "optimizer = torch.optim.Adam(model.parameters(), lr=0.1)",
        ),
    ],
)
def test_optimizer_settings(optimizer: str, change: str, line: str) -> None:
    told = changed(with_(optimizer=optimizer), change)
    assert len(told) == 2
    assert told[1].startswith("+")
    assert told[1].endswith(line)


def test_one_rate_for_two_optimizers_is_changed_where_it_stands() -> None:
    source = with_(
        optimizer="LR = 0.1\nother = nn.Linear(1, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=LR)\nsecond = torch.optim.SGD(other.parameters(), lr=LR)",
        loop=LOOP + "        second.step()\n        second.zero_grad()\n",
    )
    assert changed(source, "scale_lr factor=0.1") == ["-LR = 0.1", "+LR = 0.01"]


def test_number_that_means_something_else_too_is_left_alone() -> None:
    source = with_(
        optimizer="SMALL = 0.1\noptimizer = torch.optim.SGD(model.parameters(), lr=SMALL)\nnoise = torch.full((2,), SMALL)"
    )
    assert changed(source, "scale_lr factor=0.1")[1] == (
        "+optimizer = torch.optim.SGD(model.parameters(), lr=SMALL * 0.1)"
    )


def test_schedule_with_a_rate_of_its_own() -> None:
    source = with_(
        optimizer=SGD
        + "schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=12)",
        loop=LOOP + "        schedule.step()\n",
    )
    assert changed(source, "scale_lr factor=0.1")[1:] == [
        "+schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=12)"
    ]


def test_rate_set_by_the_loop_is_not_guessed() -> None:
    loop = (
        LOOP + "        for group in optimizer.param_groups:\n            group['lr'] = 0.3 / (epoch + 1)\n"
    )
    made = edit(with_(loop=loop), "scale_lr factor=0.1")
    assert isinstance(made, Instruction)
    assert made.place is not None
    assert made.place.line == 16


def test_option_on_the_command_line() -> None:
    source = with_(
        optimizer="import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--lr', type=float, default=0.1)\nargs = parser.parse_args()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)"
    )
    assert changed(source, "scale_lr factor=0.1")[1].endswith("default=0.01)")
    for args, new in [
        (("--lr", "0.5"), ("--lr", "0.05")),
        (("--lr=0.5", "--x"), ("--lr=0.05", "--x")),
        (("-v", "--lr", "5e-1"), ("-v", "--lr", "5e-2")),
    ]:
        made = edit(source, "scale_lr factor=0.1", args=args)
        assert isinstance(made, Edited)
        assert (made.args, made.edits) == (new, ())


def test_required_option_and_click() -> None:
    required = with_(
        optimizer="import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--lr', type=float, required=True)\nargs = parser.parse_args()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)"
    )
    made = edit(required, "set_lr value=0.01", args=("--lr", "1"))
    assert isinstance(made, Edited)
    assert made.args == ("--lr", "0.01")
    body = "".join(f"    {line}\n" for line in (LOADER + SGD + LOOP).replace("lr=0.1", "lr=lr").splitlines())
    source = (
        "import click\n"
        + HEAD
        + MODEL
        + "@click.command()\n@click.option('--lr', default=0.1)\ndef main(lr):\n"
        + body
        + "main()\n"
    )
    assert changed(source, "scale_lr factor=0.1")[1] == "+@click.option('--lr', default=0.01)"


@pytest.mark.parametrize(
    ("loop", "lines"),
    [
        (LOOP, ["+nn.utils.clip_grad_norm_(model.parameters(), 1.0)"]),
        (
            LOOP.replace(
                "optimizer.step()",
                "torch.nn.utils.clip_grad_norm_(model.parameters(), 50)\n        optimizer.step()",
            ),
            [
                "-torch.nn.utils.clip_grad_norm_(model.parameters(), 50)",
                "+torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
            ],
        ),
        (
            "scaler = torch.amp.GradScaler()\n"
            + LOOP.replace("loss.backward()", "scaler.scale(loss).backward()").replace(
                "optimizer.step()", "scaler.step(optimizer)\n        scaler.update()"
            ),
            ["+scaler.unscale_(optimizer)", "+nn.utils.clip_grad_norm_(model.parameters(), 1.0)"],
        ),
        (
            "def step(model, optimizer):\n    optimizer.step()\n"
            + LOOP.replace("optimizer.step()", "step(model, optimizer)"),
            [
                '+nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 1.0)'
            ],
        ),
        (
            LOOP.replace(
                "        loss.backward()\n        optimizer.step()",
                "        loss.backward(); optimizer.step()",
            ),
            [
                "-loss.backward(); optimizer.step()",
                "+loss.backward(); nn.utils.clip_grad_norm_(model.parameters(), 1.0); optimizer.step()",
            ],
        ),
    ],
)
def test_clipping(loop: str, lines: list[str]) -> None:
    assert changed(with_(loop=loop), "clip_norm limit=1.0") == lines


def test_clipping_made_once_is_not_made_again() -> None:
    made = edit(PLAIN, "clip_norm limit=1.0")
    assert isinstance(made, Edited)
    again = edit(made.sources["train.py"], "clip_norm limit=1.0")
    assert isinstance(again, Instruction)
    assert "already" in again.text


def test_clipping_taken_out_or_loosened() -> None:
    clip = "nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.01)"
    source = with_(loop=LOOP.replace("optimizer.step()", f"{clip}\n        optimizer.step()"))
    assert changed(source, "loosen_clipping") == [f"-{clip}"]
    assert changed(source, "loosen_clipping factor=10 off=True") == [f"-{clip}"], "off goes before a factor"
    assert changed(source, "loosen_clipping factor=100 off=False")[1] == f"+{clip.replace('0.01', '1.0')}"
    used = edit(source.replace(clip, f"norm = {clip}"), "loosen_clipping factor=10 off=True")
    assert isinstance(used, Instruction), "its answer is used"
    assert used.place is not None
    assert used.place.line == 14


@pytest.mark.parametrize(
    ("loader", "change", "line"),
    [
        (LOADER, "shuffle_data", "batch_size=16, shuffle=True)"),
        ("loader = DataLoader(TensorDataset(x, y), 16, False)", "shuffle_data", "16, True)"),
        (LOADER, "set_workers value=2", "batch_size=16, num_workers=2)"),
        (LOADER, "set_batch_size value=4", "batch_size=4)"),
        (
            "BS = 16\nloader = DataLoader(TensorDataset(x, y), BS)\nval = DataLoader(x, BS)",
            "set_batch_size value=4",
            "BS = 4",
        ),
        (
            "WIDTH = 16\nhead = nn.Linear(4, WIDTH)\nloader = DataLoader(TensorDataset(x, y), batch_size=WIDTH)",
            "set_batch_size value=4",
            "batch_size=4)",
        ),
    ],
)
def test_loader(loader: str, change: str, line: str) -> None:
    told = changed(with_(loader=loader), change)
    assert len(told) == 2
    assert told[1].endswith(line)


def test_loader_with_a_sampler_is_not_shuffled() -> None:
    loader = "loader = DataLoader(TensorDataset(x, y), 16, sampler=list(range(64)))"
    assert isinstance(edit(with_(loader=loader), "shuffle_data"), Instruction)


def test_warm_up_beside_the_loop_and_across_functions() -> None:
    linear = "warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=10)"
    assert changed(PLAIN, "warm_up steps=10") == [f"+{linear}", "+warmup.step()"]
    apart = with_(
        model=MODEL + "def fit(optimizer):\n" + "".join(f"    {line}\n" for line in LOOP.splitlines()),
        loop="fit(optimizer)",
    )
    hook = "+optimizer.register_step_post_hook(lambda *_: warmup.step())"
    assert changed(apart, "warm_up steps=10") == [f"+{linear}", hook]


def test_warm_up_that_the_script_has_is_lengthened() -> None:
    source = with_(
        optimizer=SGD + "WARMUP = 0\n"
        "schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: min(1.0, (i + 1) / max(1, WARMUP)))",
        loop=LOOP + "        schedule.step()\n",
    )
    assert changed(source, "warm_up steps=50") == ["-WARMUP = 0", "+WARMUP = 50"]


def test_schedule_replaced_at_its_own_pace() -> None:
    schedule = "schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)"
    per_batch = with_(optimizer=SGD + schedule, loop=LOOP + "        schedule.step()\n")
    assert changed(per_batch, "replace_schedule kind=cosine steps=12")[1].endswith(
        "CosineAnnealingLR(optimizer, T_max=12)"
    )
    per_epoch = with_(optimizer=SGD + schedule, loop=LOOP + "    schedule.step()\n")
    assert changed(per_epoch, "replace_schedule kind=cosine steps=12")[1].endswith(
        "CosineAnnealingLR(optimizer, T_max=3)"
    )
    assert changed(per_epoch, "hold_lr")[1].endswith("ConstantLR(optimizer, factor=1.0)")


CLASSES = (
    "labels = torch.randint(0, 3, (64,))\nloader = DataLoader(TensorDataset(x, labels), batch_size=16)\n"
)
ENTROPY = LOOP.replace("mse_loss", "cross_entropy")


@pytest.mark.parametrize(
    ("model", "lines"),
    [
        (
            "model = nn.Sequential(\n    nn.Linear(4, 3),  # scores\n    nn.Softmax(dim=1),  # odds\n)",
            ["-nn.Softmax(dim=1),  # odds"],
        ),
        (
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.out = nn.Linear(4, 3)\n"
            "    def forward(self, x):\n        return torch.softmax(self.out(x), dim=1)\nmodel = Net()",
            ["-return torch.softmax(self.out(x), dim=1)", "+return self.out(x)"],
        ),
        (
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.out = nn.Linear(4, 3)\n"
            "        self.act = nn.Softmax(dim=1)\n    def forward(self, x):\n        return self.act(self.out(x))\nmodel = Net()",
            ["-self.act = nn.Softmax(dim=1)", "+self.act = nn.Identity()"],
        ),
    ],
)
def test_logits_reach_the_loss(model: str, lines: list[str]) -> None:
    assert changed(with_(model=model, loader=CLASSES, loop=ENTROPY), "pass_logits") == lines


def test_thresholds_follow_the_logits() -> None:
    binary = with_(
        model="model = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid())",
        loop=LOOP.replace("mse_loss", "binary_cross_entropy_with_logits")
        + "        hits = (model(xb) > 0.5).float() == yb\n        more = model(xb).round()\n",
    )
    assert [line for line in changed(binary, "pass_logits") if line[0] == "+"] == [
        "+model = nn.Sequential(nn.Linear(4, 1))",
        "+hits = (model(xb) > 0.0).float() == yb",
        "+more = (model(xb) > 0).float()",
    ]
    used = binary.replace("model(xb).round()", "(model(xb) * 100).mean()")
    assert isinstance(edit(used, "pass_logits"), Instruction), "percentages need the probabilities"


@pytest.mark.parametrize(
    ("model", "change", "lines"),
    [
        (
            MODEL,
            "swap_activation to=leaky_relu",
            "nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(), nn.Linear(8, 1))",
        ),
        (
            MODEL,
            "insert_norm kind=auto",
            "nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 1))",
        ),
        (
            MODEL.replace("nn.ReLU()", "nn.Dropout(0.9), nn.ReLU()"),
            "set_dropout value=0.1",
            "nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.ReLU(), nn.Linear(8, 1))",
        ),
        (
            MODEL + "nn.init.normal_(model[0].weight, std=5.0)",
            "reinitialise kind=he",
            "",
        ),
        (
            MODEL
            + "for m in model.modules():\n    if isinstance(m, nn.Linear):\n        nn.init.constant_(m.weight, 0.1)",
            "reinitialise kind=he",
            "nn.init.kaiming_normal_(m.weight)",
        ),
    ],
)
def test_model(model: str, change: str, lines: str) -> None:
    told = changed(with_(model=model), change)
    assert [line.removeprefix("+").removeprefix("model = ") for line in told if line[0] == "+"] == [
        lines
    ] * bool(lines)


def test_output_activation_and_gates_stay() -> None:
    model = (
        "class Cell(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a, self.b, self.out = nn.Linear(4, 8), nn.Linear(4, 8), nn.Linear(8, 1)\n"
        "    def forward(self, x):\n        h = torch.sigmoid(self.a(x)) * torch.tanh(self.b(x))\n"
        "        return torch.sigmoid(self.out(h))\nmodel = Cell()"
    )
    assert isinstance(edit(with_(model=model), "swap_activation to=relu"), Instruction)


def test_norm_is_not_put_where_weights_are_loaded() -> None:
    made = edit(with_(model=MODEL + "model.load_state_dict(torch.load('a.pt'))"), "insert_norm kind=auto")
    assert isinstance(made, Instruction)


def test_parameters_of_all_layers() -> None:
    source = with_(
        model="body = nn.Linear(4, 8)\nhead = nn.Linear(8, 1)",
        optimizer="optimizer = torch.optim.SGD(head.parameters(), lr=0.1)",
        loop=LOOP.replace("model(xb)", "head(body(xb))"),
    )
    assert changed(source, "train_all_parameters")[1] == (
        "+optimizer = torch.optim.SGD([*head.parameters(), *body.parameters()], lr=0.1)"
    )


def test_a_part_that_no_group_holds_becomes_a_group() -> None:
    source = with_(
        model=(
            "class Tower(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.first, self.net = nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 8), nn.ReLU())\n"
            "    def forward(self, x):\n        return self.net(self.first(x))\n"
            "tower, head = Tower(), nn.Linear(8, 1)"
        ),
        optimizer=(
            "groups = [{'params': head.parameters(), 'lr': 0.1}, {'params': tower.first.parameters()}]\n"
            "optimizer = torch.optim.SGD(groups, lr=0.01)"
        ),
        loop=LOOP.replace("model(xb)", "head(tower(xb))"),
    )
    assert changed(source, "train_all_parameters") == [
        '+optimizer.add_param_group({"params": tower.net.parameters(), "lr": optimizer.param_groups[0]["lr"]})'
    ]


def test_frozen_layers_stay_frozen() -> None:
    source = with_(
        model="body = nn.Linear(4, 8)\nbody.requires_grad_(False)\nhead = nn.Linear(8, 1)",
        optimizer="optimizer = torch.optim.SGD(head.parameters(), lr=0.1)",
        loop=LOOP.replace("model(xb)", "head(body(xb))"),
    )
    assert isinstance(edit(source, "train_all_parameters"), Instruction)


def test_precision() -> None:
    source = with_(
        model=MODEL + "model.half()",
        loop="scaler = torch.amp.GradScaler('cpu')\n"
        + LOOP.replace("loss = ", "with torch.autocast('cpu', dtype=torch.float16):\n            loss = "),
    )
    assert [line for line in changed(source, "full_precision") if line[0] == "+"] == [
        "+model.float()",
        "+scaler = torch.amp.GradScaler('cpu', enabled=False)",
        "+with torch.autocast('cpu', dtype=torch.float16, enabled=False):",
    ]
    assert "+with torch.autocast('cpu', dtype=torch.bfloat16):" in changed(source, "bf16_autocast")


def test_inputs_are_normalised_alike() -> None:
    source = with_(
        loader="xv = torch.randn(8, 4)\n" + LOADER,
        loop=LOOP + "    with torch.no_grad():\n        print(model(xv).mean())\n",
    )
    source = source.replace(
        "x, y = torch.randn(64, 4), torch.randn(64, 1)", "x = torch.randn(64, 4)\ny = torch.randn(64, 1)"
    )
    assert changed(source, "normalise_inputs") == [
        "+input_mean, input_std = x.mean(0), x.std(0)",
        "+input_std[input_std == 0] = 1",
        "+x = (x - input_mean) / input_std",
        "+xv = (xv - input_mean) / input_std",
    ]


@pytest.mark.parametrize(
    "change",
    [
        "repeat_batch",
        "zero_inputs",
        "shuffle_labels",
        "ramp_lr first=1e-6 last=1.0 steps=100",
    ],
)
def test_experiments_are_no_edits(change: str) -> None:
    assert isinstance(edit(PLAIN, change), Instruction)


def test_script_that_does_not_train() -> None:
    for change in (
        "scale_lr factor=0.1",
        "clip_norm limit=1.0",
        "zero_gradients",
        "shuffle_data",
        "warm_up steps=5",
    ):
        made = edit("print('hello')\n", change)
        assert isinstance(made, Instruction)
        assert made.text


def test_several_changes_are_one_edit() -> None:
    script = parse_script(PLAIN)
    made = edit_for_all(
        script, [asked("scale_lr factor=0.1"), asked("clip_norm limit=1.0"), asked("shuffle_data")]
    )
    assert isinstance(made, Edited)
    assert [word in made.sources["train.py"] for word in ("lr=0.01", "clip_grad_norm_", "shuffle=True")] == [
        True
    ] * 3
    assert isinstance(
        edit_for_all(script, [asked("scale_lr factor=0.1"), asked("set_lr value=1.0")]), Instruction
    )


def test_two_optimizers_warm_up_apart() -> None:
    source = with_(
        optimizer=SGD + "other = nn.Linear(1, 1)\nsecond = torch.optim.SGD(other.parameters(), lr=0.1)",
        loop=LOOP + "        second.step()\n        second.zero_grad()\n",
    )
    told = changed(source, "warm_up steps=10")
    assert [line.split(" =")[0] for line in told] == [
        "+warmup",
        "+warmup_2",
        "+warmup.step()",
        "+warmup_2.step()",
    ]


def test_settings_that_an_optimizer_does_not_take() -> None:
    source = with_(optimizer="optimizer = torch.optim.LBFGS(model.parameters())")
    assert isinstance(edit(source, "set_weight_decay value=0.1"), Instruction)
    assert isinstance(edit(PLAIN, "set_eps value=0.1"), Instruction)
    assert isinstance(edit(PLAIN, "set_weight_decay value=0.0"), Instruction), "it is 0 already"


def test_trainers_that_run_the_loop() -> None:
    hugging = "from transformers import Trainer, TrainingArguments\nargs = TrainingArguments('o', learning_rate=2e-5)\nTrainer(m, args).train()\n"
    assert changed(hugging, "scale_lr factor=0.1")[1].endswith("learning_rate=2e-6)")
    assert changed(hugging, "warm_up steps=50")[1].endswith("learning_rate=2e-5, warmup_steps=50)")
    lightning = "import lightning as L\nL.Trainer(max_epochs=3).fit(m)\n"
    assert (
        changed(lightning, "clip_norm limit=0.5")[1]
        == "+L.Trainer(max_epochs=3, gradient_clip_val=0.5).fit(m)"
    )


def test_batches_that_are_not_finite_are_passed_over() -> None:
    assert changed(PLAIN, "skip_nonfinite") == ["+if not torch.isfinite(loss): continue"]
    inside = with_(
        loop="def step(loss):\n    loss.backward()\n    optimizer.step()\n"
        + LOOP.replace("        loss.backward()\n        optimizer.step()", "        step(loss)")
    )
    assert isinstance(edit(inside, "skip_nonfinite"), Instruction), "a function cannot end the loop's turn"


def test_broken_samples_are_left_out_of_every_loop() -> None:
    loop = (
        LOOP
        + "\nmodel.eval()\nwith torch.no_grad():\n    for a, b in loader:\n        print(F.mse_loss(model(a), b))\n"
    )
    added = changed(with_(loop=loop), "drop_outliers limit=30")
    assert [line.lstrip("+ ") for line in added] == [
        "keep = xb.flatten(1).abs().amax(1) <= 30",
        "xb, yb = xb[keep], yb[keep]",
        "keep = a.flatten(1).abs().amax(1) <= 30",
        "a, b = a[keep], b[keep]",
    ]


def test_broken_samples_are_left_out_of_the_datasets_where_a_loop_cannot() -> None:
    loop = LOOP + "\nwith torch.no_grad():\n    print([F.mse_loss(model(a), b) for a, b in loader])\n"
    added = "\n".join(changed(with_(loop=loop), "drop_outliers limit=30"))
    assert "def samples_within(dataset, limit):" in added
    assert "(samples_within(" in added
