"""`engine.py` is the only way from a run to a diagnosis, so thresholds reach every surface alike."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from click.testing import CliRunner

import traindx
from tests.test_layers import FILES, SRC
from traindx.cli import cli
from traindx.core.settings import BadSettings
from traindx.engine import diagnose_script, lint, using_thresholds
from traindx.experiment.arm_diagnosis import examined
from traindx.interview.session import Interview
from traindx.source import read_script

ENDS = {("traindx.evidence.examine", "examine"), ("traindx.knowledge.judge", "judge")}
LOOP = """\
import torch
model = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(100):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1))
    loss.backward()
    optimizer.step()
"""
STRICT = "[thresholds.script_dropout_high]\nmax_dropout = 0.3\n"
HIGH = "script_dropout_high"


def test_only_the_engine_puts_the_ends_of_the_line_together() -> None:
    for file in FILES:
        tree = ast.parse((SRC / file).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and file != "engine.py":
                assert not {(node.module, one.name) for one in node.names} & ENDS, (
                    f"{file} builds its own line"
                )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(LOOP)
    return tmp_path


def found() -> dict[str, bool]:
    """Which surfaces find the dropout high."""
    script = read_script("train.py")
    diagnoses = {
        "script": diagnose_script("train.py"),
        "trial": examined(diagnose_script("train.py").run, script),
        "interview": Interview(traindx.engine.script_case("train.py")).diagnosis(),
    }
    seen = {
        name: any(check.check == HIGH and check.seen for check in one.coverage)
        for name, one in diagnoses.items()
    }
    return seen | {"lint": any(one.id == HIGH for one in lint("train.py").findings)}


def test_the_settings_file_reaches_every_surface(folder: Path) -> None:
    assert not any(found().values())
    (folder / "traindx.toml").write_text(STRICT)
    assert all(found().values())


def test_thresholds_chosen_for_a_process_go_before_the_file(folder: Path) -> None:
    (folder / "traindx.toml").write_text(STRICT)
    with using_thresholds({HIGH: {"max_dropout": 0.9}}):
        assert not any(found().values())
    assert all(found().values())


def _check(output: str) -> str:
    """What the coverage of a JSON document says of the check."""
    _, _, rest = output.replace(" ", "").partition(f'"check":"{HIGH}"')
    return rest.partition("}")[0]


@pytest.mark.parametrize("words", [["lint"], ["ask", "--json"]])
def test_set_and_the_settings_file_reach_the_commands(folder: Path, words: list[str]) -> None:
    def says(*options: str) -> bool:
        done = CliRunner().invoke(cli, [*words, *options, "train.py"])
        assert done.exit_code in (0, 1), done.output
        return (
            f"{HIGH}:" in done.stdout or f" {HIGH}\n" in done.stdout or '"seen":true' in _check(done.stdout)
        )

    assert not says()
    assert says("--set", f"{HIGH}.max_dropout=0.3")
    assert not says(), "an option of one command counts for that command only"
    (folder / "traindx.toml").write_text(STRICT)
    assert says()


@pytest.mark.parametrize(
    "words",
    [["lint"], ["ask", "--json"], ["treat"], ["try", "lower_lr"], ["confirm"], ["preflight"], ["diagnose"]],
)
def test_a_wrong_threshold_is_one_line(folder: Path, words: list[str]) -> None:
    (folder / "traindx.toml").write_text("[thresholds.script_dropout_hihg]\nmax_dropout = 0.5\n")
    done = CliRunner().invoke(cli, [*words, "train.py"])
    assert done.exit_code == 2
    assert "no detector is called 'script_dropout_hihg'" in done.stderr
    assert done.stderr.count("\n") == 1
    with pytest.raises(BadSettings):
        diagnose_script("train.py")


def test_lint_says_what_it_could_not_check(folder: Path) -> None:
    (folder / "helpers.py").write_text("def mean(values):\n    return sum(values) / len(values)\n")
    done = CliRunner().invoke(cli, ["lint", "helpers.py"])
    assert done.exit_code == 0
    assert "Nothing found" not in done.stdout
    assert "Not checked because no training loop was found in the source: helpers.py." in done.stdout
    assert not lint("helpers.py").checked
    both = CliRunner().invoke(cli, ["lint", "helpers.py", "train.py"])
    assert "Nothing found in 1 script" in both.stdout
    assert "helpers.py" in both.stdout
