"""What an argument of `traindx check` is, and that bad input is one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

import traindx
from traindx.cli import cli


def saved(path: Path, *, broken: bool = False) -> Path:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 5))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
        if broken:
            model[0].weight[3] = float("nan")
    torch.save(model.state_dict(), path)
    return path


def test_a_broken_checkpoint_is_a_problem(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["check", str(saved(tmp_path / "a.pt", broken=True)), "--json"])
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert document["verdict"] == "problem"
    assert document["problems"][0]["findings"][0]["finding"] == "checkpoint_nonfinite"
    assert document["measured"]["weights"][0]["nonfinite"] == 20


def test_nothing_found_is_no_health(tmp_path: Path) -> None:
    diagnosis = traindx.check(saved(tmp_path / "a.pt"))
    assert diagnosis.verdict == "insufficient_evidence"
    result = CliRunner().invoke(cli, ["check", str(tmp_path / "a.pt")])
    assert result.exit_code == 0
    assert "nothing wrong in what can be seen of weights" in result.stdout
    assert "HEALTHY" not in result.stdout


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("none.pt", None, "no such file"),
        ("text.doc", b"hello", "none of what can be checked"),
        ("empty.pt", b"", "damaged"),
        ("garbage.pt", b"\x80\x02garbage", "damaged"),
        ("zip.pt", b"PK\x03\x04 cut off", "damaged or cut off"),
        ("cut.safetensors", b"\xff\x00\x00\x00\x00\x00\x00\x00{}", "cut off"),
        ("odd.safetensors", b"\x02\x00\x00\x00\x00\x00\x00\x00[]", "no JSON object"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, name: str, content: bytes | None, line: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    result = CliRunner().invoke(cli, ["check", str(tmp_path / name)])
    assert result.exit_code == 2
    assert line in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_pickle_with_code_is_refused(tmp_path: Path) -> None:
    torch.save(torch.nn.Linear(2, 2), tmp_path / "whole.pt")
    result = CliRunner().invoke(cli, ["check", str(tmp_path / "whole.pt")])
    assert result.exit_code == 2
    assert "runs code" in result.stderr
    assert "torch.nn.modules.linear.Linear" in result.stderr


def test_code_runs_only_where_it_is_trusted(tmp_path: Path) -> None:
    torch.save(torch.nn.Linear(2, 2), tmp_path / "whole.pt")
    result = CliRunner().invoke(cli, ["check", str(tmp_path / "whole.pt"), "--trust-code", "--json"])
    assert [row["name"] for row in json.loads(result.stdout)["measured"]["weights"]] == ["weight", "bias"]
