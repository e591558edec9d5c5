"""Settings that reach the optimizer by way of dicts, dataclasses and configuration files are changed there."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.core.nouns import Run
from traindx.experiment.edit import Edited, Instruction, edit_for, edit_for_all
from traindx.source.script import read_script

from .test_editing import asked, changed, edit, with_


def recorded(name: str, **group: float) -> Run:
    facts = {"optimizers": [{"class": name, "groups": [group]}]}
    return Run("r", "r", ("x",), "step", {}, facts=facts)


FACTORY = """\
from dataclasses import dataclass, field
@dataclass
class Optim:
    name: str = "adam"
    kwargs: dict = field(default_factory=lambda: {"lr": 3e-3, "betas": (0.8, 0.999), "eps": 0.1})
@dataclass
class Config:
    optim: Optim = field(default_factory=Optim)
config = Config()
KINDS = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
optimizer = KINDS[config.optim.name](model.parameters(), **config.optim.kwargs)
"""
LITERAL = """\
settings = {"lr": 3e-3, "betas": (0.8, 0.999), "eps": 0.1}
optimizer = torch.optim.Adam(model.parameters(), **settings)
"""
NESTED = """\
CFG = {"model": {"lr": 8}, "optim": {"kwargs": dict(lr=3e-3, betas=(0.8, 0.999), eps=0.1)}}
def make(cfg):
    return torch.optim.Adam(model.parameters(), **cfg["kwargs"])
optimizer = make(CFG["optim"])
"""


@pytest.mark.parametrize("optimizer", [FACTORY, LITERAL, NESTED])
@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        ("set_eps value=1e-8", "0.1", "1e-8"),
        ("scale_lr factor=0.1", "3e-3", "3e-4"),
        ("set_betas beta1=0.9 beta2=0.99", "(0.8, 0.999)", "(0.9, 0.99)"),
        ("set_momentum value=0.9", "(0.8, 0.999)", "(0.9, 0.999)"),
    ],
)
def test_settings_that_are_unpacked(optimizer: str, change: str, old: str, new: str) -> None:
    before, after = changed(with_(optimizer=optimizer), change)
    assert after[1:] == before[1:].replace(old, new)


@pytest.mark.parametrize("optimizer", [FACTORY, LITERAL, NESTED])
def test_setting_that_is_not_among_the_unpacked_ones(optimizer: str) -> None:
    before, after = changed(with_(optimizer=optimizer), "set_weight_decay value=0.01")
    assert after[1:] == before[1:-1] + ", weight_decay=0.01)"


@pytest.mark.parametrize("optimizer", [FACTORY, LITERAL, NESTED])
def test_another_optimizer_keeps_what_it_knows_of_the_unpacked_settings(optimizer: str) -> None:
    _, after = changed(with_(optimizer=optimizer), "swap_optimizer name=adamw")
    assert after.endswith("torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.8, 0.999), eps=0.1)")
    _, after = changed(with_(optimizer=optimizer), "swap_optimizer name=sgd lr=0.1")
    assert after.endswith("torch.optim.SGD(model.parameters(), lr=0.1)")
    unknown = optimizer.replace("eps=0.1", "eps=len(x)").replace('"eps": 0.1', '"eps": len(x)')
    assert isinstance(edit(with_(optimizer=unknown), "swap_optimizer name=adamw"), Instruction)


YAML = "optim:\n  name: sgd\n  lr: 0.3 # the rate\n  momentum: 0.5\nmodel: {lr: 8, momentum: 0.1}\n"
BESIDE = """\
import argparse, yaml
from pathlib import Path
parser = argparse.ArgumentParser()
parser.add_argument("--config", default={default})
config = yaml.safe_load(Path(parser.parse_args().config).read_text())
KINDS = {{"adam": torch.optim.Adam, "sgd": torch.optim.SGD}}
def make(cfg):
    more = {{k: cfg[k] for k in ("momentum", "weight_decay") if k in cfg}}
    return KINDS[cfg["name"]](model.parameters(), lr=cfg["lr"], **more)
optimizer = make(config["optim"])
"""


@pytest.mark.parametrize(
    "default",
    [
        'str(Path(__file__).with_suffix(".yaml"))',
        'Path(__file__).resolve().parent / "train.yaml"',
        '__file__.replace(".py", ".yaml")',
        'Path(__file__).with_name("train.yaml")',
        '"train.yaml"',
    ],
)
def test_file_beside_the_script(tmp_path: Path, default: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(with_(optimizer=BESIDE.format(default=default)))
    (tmp_path / "train.yaml").write_text(YAML)
    made = edit_for(read_script(script), asked("scale_lr factor=0.1"))
    assert isinstance(made, Edited)
    assert made.sources == {str(tmp_path / "train.yaml"): YAML.replace("lr: 0.3 #", "lr: 0.03 #")}


def test_file_that_the_command_line_names(tmp_path: Path) -> None:
    script, other = tmp_path / "train.py", tmp_path / "other.yaml"
    script.write_text(with_(optimizer=BESIDE.format(default='Path(__file__).with_suffix(".yaml")')))
    for path in (tmp_path / "train.yaml", other):
        path.write_text(YAML)
    made = edit_for(read_script(script), asked("scale_lr factor=0.1"), args=("--config", str(other)))
    assert isinstance(made, Edited)
    assert list(made.sources) == [str(other)]


def test_setting_whose_way_cannot_be_followed_is_known_by_name_and_value(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(with_(optimizer=BESIDE.format(default='"train.yaml"')))
    (tmp_path / "train.yaml").write_text(YAML)
    read, wanted = read_script(script), asked("set_momentum value=0.9")
    made = edit_for(read, wanted, run=recorded("SGD", lr=0.3, momentum=0.5))
    assert isinstance(made, Edited)
    assert made.sources == {str(tmp_path / "train.yaml"): YAML.replace("0.5", "0.9")}
    for run in (None, recorded("SGD", lr=0.3, momentum=0.7)):
        assert isinstance(edit_for(read, wanted, run=run), Instruction), "no number of the file is the one"
    (tmp_path / "train.yaml").write_text(YAML.replace("0.1", "0.5"))
    twice = edit_for(read, wanted, run=recorded("SGD", lr=0.3, momentum=0.5))
    assert isinstance(twice, Instruction), "two have the name and the value"


def test_two_settings_of_one_file(tmp_path: Path) -> None:
    script, config = tmp_path / "train.py", tmp_path / "train.yaml"
    script.write_text(with_(optimizer=BESIDE.format(default='"train.yaml"')))
    config.write_text(YAML)
    run, read = recorded("SGD", lr=0.3, momentum=0.5), read_script(script)
    both = [asked("scale_lr factor=0.1"), asked("set_momentum value=0.9")]
    wanted = {str(config): YAML.replace("lr: 0.3", "lr: 0.03").replace("0.5", "0.9")}
    made = edit_for_all(read, both, run=run)
    assert isinstance(made, Edited)
    assert made.sources == wanted
    first = edit_for_all(read, both[:1], run=run)
    assert isinstance(first, Edited)
    later = recorded("SGD", lr=0.03, momentum=0.5)
    second = edit_for_all(read, both[1:], run=later, texts=first.sources)
    assert isinstance(second, Edited)
    assert second.sources == wanted, "an edit after another one keeps what that did"


PARSED = """\
from dataclasses import dataclass
import tyro
@dataclass
class Config:
    lr: float = 0.3
    decay: float = 0.3
config = tyro.cli(Config)
optimizer = torch.optim.SGD(model.parameters(), lr=config.lr)
"""


def test_field_of_a_class_that_a_library_fills() -> None:
    source, run = with_(optimizer=PARSED), recorded("SGD", lr=0.3)
    assert changed(source, "scale_lr factor=0.1", run=run) == ["-lr: float = 0.3", "+lr: float = 0.03"]
    given = edit(source, "scale_lr factor=0.1", run=run, args=("--lr", "0.3"))
    assert isinstance(given, Edited)
    assert "lr=config.lr * 0.1" in given.sources["train.py"], "the command line sets it"


@pytest.mark.parametrize("kind", ["getattr(torch.optim, name)", "{'a': torch.optim.Adam}[name]"])
def test_kind_of_optimizer_is_the_recorded_one(kind: str) -> None:
    optimizer = f"import os\nname = os.environ['KIND']\noptimizer = {kind}(model.parameters(), lr=0.1)"
    before, after = changed(with_(optimizer=optimizer), "set_eps value=0.01", run=recorded("Adam", lr=0.1))
    assert after[1:] == before[1:-1] + ", eps=0.01)"
    if "getattr" in kind:
        told = edit(with_(optimizer=optimizer), "set_eps value=0.01", run=recorded("SGD", lr=0.1))
        assert isinstance(told, Instruction)


def test_rate_that_two_optimizers_share_is_scaled_once() -> None:
    optimizer = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=1.0)
lr = parser.parse_args().lr
other = torch.optim.SGD(model[0].parameters(), lr=lr)
optimizer = torch.optim.SGD(model[2].parameters(), lr=lr)
"""
    loop = "for xb, yb in loader:\n    model(xb).mean().backward()\n    other.step()\n    optimizer.step()\n"
    made = edit(with_(optimizer=optimizer, loop=loop), "scale_lr factor=0.1", args=("--lr", "0.5"))
    assert isinstance(made, Edited)
    assert made.args == ("--lr", "0.05")
