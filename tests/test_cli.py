"""The command line as somebody uses it: `inspect`, its options, its errors, its manners."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from traindx.cli import cli
from traindx.report.text import MARK

CSV = "step,loss,val_loss,lr\n" + "".join(
    f"{i},{'nan' if i == 7 else 4 * 0.8**i},{5 - i / 10 if i % 2 == 0 else ''},0.001\n" for i in range(10)
)


def call(*args: object, stdin: str | None = None, columns: int = 100) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(cli, [str(a) for a in args], input=stdin)


def process(*args: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "traindx", *(str(a) for a in args)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=cwd, check=False)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "metrics.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


@pytest.fixture
def many(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    for i in range(6):
        (folder / f"exp{i}").mkdir(parents=True)
        (folder / f"exp{i}" / "metrics.csv").write_text(CSV.replace("0.001", f"0.{i + 1}"), encoding="utf-8")
        (folder / f"exp{i}" / "empty.csv").touch()
    return folder


def test_help_lists_the_commands() -> None:
    result = call("--help")
    assert result.exit_code == 0
    assert "Show the training runs found in files and folders." in result.output
    assert "demo " in result.output


def test_inspect_shows_the_run(log: Path) -> None:
    result = call("inspect", log)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    loss = next(line for line in lines if line.strip().startswith("loss"))
    for part in ("10", "4 → 0.5369", "0.5369 at 9", "1 NaN", MARK):
        assert part in loss
    val = next(line for line in lines if line.strip().startswith("val/loss"))
    assert "val_loss" in val
    assert " 5 " in val
    assert lines.index(loss) < lines.index(val)
    assert "last step 9" in result.output
    assert "\x1b" not in result.output


def test_many_runs_are_a_table_and_all_of_them_on_request(many: Path) -> None:
    result = call("inspect", many)
    assert result.exit_code == 0
    assert result.output.startswith("6 runs\n")
    assert sum("exp" in line and "→" in line for line in result.output.splitlines()) == 6
    assert "points" not in result.output
    assert "Not read: 6 files or folders" in result.output
    assert "empty file (6)" in result.output
    assert "and 3 more" in result.output
    full = call("inspect", many, "--all").output
    assert full.count("format") >= 6
    assert "and 3 more" not in full


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_no_line_is_wider_than_the_terminal(many: Path, log: Path, columns: int) -> None:
    for args in ([many], [many, "--all"], [log]):
        output = call("inspect", *args, columns=columns).output
        assert max(map(len, output.splitlines())) <= max(columns, 76)


def test_standard_input(log: Path) -> None:
    result = call("inspect", "-", stdin=log.read_text(encoding="utf-8"))
    assert result.exit_code == 0, result.output
    assert "val/loss" in result.output


def test_json_is_the_documented_schema(log: Path) -> None:
    result = call("inspect", log, "--json")
    assert result.exit_code == 0
    document = json.loads(result.output, parse_constant=lambda token: pytest.fail(f"bare {token}"))
    assert document["schema"] == "traindx/runs/1"
    assert document["skipped"] == []
    (run,) = document["runs"]
    assert run["axis"] == "step"
    assert run["last_step"] == 9
    loss = next(series for series in run["series"] if series["name"] == "loss")
    assert loss["steps"] == list(range(10))
    assert loss["values"][7] == "NaN"
    assert loss["values"][0] == 4
    assert (loss["points"], loss["nan"], loss["inf"], loss["goal"]) == (10, 1, 0, "lower")
    assert loss["best"] == {"step": 9, "value": pytest.approx(4 * 0.8**9)}


def test_json_says_what_was_not_read_even_when_nothing_was(tmp_path: Path) -> None:
    result = process("inspect", "--json", tmp_path / "missing.csv")
    assert result.returncode == 2
    assert json.loads(result.stdout)["skipped"][0]["text"] == "it does not exist"


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_export_holds_every_point(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "points.csv"
    result = call("inspect", log, "--csv", out)
    assert result.exit_code == 0, result.output
    rows = read_csv(out.read_text(encoding="utf-8"))
    assert list(rows[0]) == ["run", "series", "source", "step", "value", "time"]
    loss = [row for row in rows if row["series"] == "loss"]
    assert [row["step"] for row in loss] == [str(i) for i in range(10)]
    assert math.isnan(float(loss[7]["value"]))
    assert float(loss[3]["value"]) == pytest.approx(4 * 0.8**3)
    assert len([row for row in rows if row["source"] == "val_loss"]) == 5


def test_csv_does_not_replace_a_file_unless_told(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "points.csv"
    out.write_text("mine", encoding="utf-8")
    result = call("inspect", log, "--csv", out)
    assert result.exit_code == 2
    assert "exists already" in result.output
    assert "--force" in result.output
    assert out.read_text(encoding="utf-8") == "mine"
    assert call("inspect", log, "--csv", out, "--force").exit_code == 0
    assert out.read_text(encoding="utf-8").startswith("run,series,")


def test_csv_on_standard_output_is_only_the_table(log: Path) -> None:
    result = process("inspect", log, "--csv", "-")
    assert result.returncode == 0
    assert len(read_csv(result.stdout)) == 25
    assert call("inspect", log, "--csv", "-", "--json").exit_code == 2


def test_plots_are_png_files(many: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "plots"
    result = call("inspect", many, "--plots", folder)
    assert result.exit_code == 0, result.output
    pictures = sorted(folder.iterdir())
    assert len(pictures) == 6
    assert all(p.read_bytes().startswith(b"\x89PNG") and p.suffix == ".png" for p in pictures)


def test_map_names_a_column(log: Path) -> None:
    document = json.loads(call("inspect", log, "--json", "--map", "val/accuracy=lr").output)
    names = {series["name"]: series["source"] for series in document["runs"][0]["series"]}
    assert names["val/accuracy"] == "lr"


def test_a_map_that_fits_nothing_is_said(log: Path) -> None:
    result = process("inspect", log, "--map", "loss=val_los")
    assert result.returncode == 0
    assert "no run has a column 'val_los'; the nearest is 'val_loss'" in result.stderr


def test_map_takes_the_name_that_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("\n".join(f"Epoch {i}, train MSE {9 - i / 4}" for i in range(12)))
    result = process("inspect", tmp_path / "a.log", "--map", "loss=mse")
    assert (result.returncode, result.stderr) == (0, "")
    assert "is read as the loss" not in result.stdout
    assert "train MSE" in result.stdout


def test_settings_file_names_columns(log: Path) -> None:
    (log.parent / "traindx.toml").write_text('[map]\nreward = "lr"\n', encoding="utf-8")
    result = process("inspect", log.name, cwd=log.parent)
    assert result.returncode == 0
    assert "reward" in result.stdout
    (log.parent / "traindx.toml").write_text("[maps]\n", encoding="utf-8")
    result = process("inspect", log.name, cwd=log.parent)
    assert result.returncode == 2
    assert "unknown key 'maps'" in result.stderr
    assert result.stderr.count("\n") == 1


def complaint(*args: object) -> str:
    """The one line that a failing call prints."""
    result = process("inspect", *args)
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr
    return result.stderr


def test_a_missing_file(tmp_path: Path) -> None:
    told = complaint(tmp_path / "gone.log")
    assert "gone.log: it does not exist." in told
    assert "Give a training log or a run folder" in told


def test_a_folder_without_runs(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff" + bytes(range(256)))
    assert "no training run found in it" in complaint(tmp_path)


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "train.log").touch()
    assert "empty file" in complaint(tmp_path / "train.log")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(log: Path) -> None:
    log.chmod(0)
    assert "no permission to read it" in complaint(log)


@pytest.mark.parametrize("text", ["loss", "=x", "loss=", "="])
def test_a_map_that_is_not_one(log: Path, text: str) -> None:
    result = call("inspect", log, "--map", text)
    assert result.exit_code == 2
    assert "--map takes NAME=COLUMN" in result.output


def test_one_bad_path_beside_a_good_one(log: Path, tmp_path: Path) -> None:
    result = call("inspect", log, tmp_path / "gone.log")
    assert result.exit_code == 0
    assert "it does not exist" in result.output


@pytest.mark.parametrize("args", [[], ["inspect"], ["inspect", "--nope", "x"], ["nope"]])
def test_bad_usage_is_exit_code_2(args: Sequence[str]) -> None:
    assert call(*args).exit_code == 2


def test_a_place_that_cannot_be_written(log: Path, tmp_path: Path) -> None:
    told = call("inspect", log, "--csv", tmp_path / "no" / "such" / "out.csv")
    assert told.exit_code == 2
    assert "cannot be written: no such file or directory" in told.output
    told = call("inspect", log, "--plots", log)
    assert told.exit_code == 2
    assert "cannot be written" in told.output


def test_a_bug_of_ours_is_one_line(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr("traindx.logs.find.find_runs", broken)
    monkeypatch.delenv("TRAINDX_DEBUG", raising=False)
    result = call("inspect", log)
    assert result.exit_code == 2
    assert "RuntimeError: broken on purpose" in result.output
    assert "please report it" in result.output


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("step,loss\n" + "".join(f"{i},{i}\n" for i in range(60_000)), encoding="utf-8")
    command = [sys.executable, "-m", "traindx", "inspect", str(path), "--csv", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 141


def test_ctrl_c_is_quiet() -> None:
    command = [sys.executable, "-m", "traindx", "inspect", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdin is not None
        child.stdin.write(b"step 1 loss 2\n" * 50_000)  # more than a pipe holds: the child is reading now
        child.stdin.flush()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=20)
    assert child.returncode == 130
    assert (out.strip(), err.strip()) == (b"", b"")


SAMPLES = Path(__file__).parent / "samples"


@pytest.mark.parametrize(
    "folder", sorted(p.name for p in SAMPLES.iterdir() if p.is_dir() and p.name != "make")
)
def test_inspect_on_the_samples_of_real_libraries(folder: str, tmp_path: Path) -> None:
    result = call("inspect", SAMPLES / folder, "--all", "--plots", tmp_path)
    assert result.exit_code == 0, result.output
    assert max(map(len, result.output.splitlines())) <= 100
    assert "please report it" not in result.output
    document = json.loads(call("inspect", SAMPLES / folder, "--json").output)
    assert len(list(tmp_path.glob("*.png"))) == len(document["runs"])
    for run in document["runs"]:
        for series in run["series"]:
            assert len(series["steps"]) == len(series["values"]) == series["points"]
            assert not any(isinstance(value, float) and value != value for value in series["values"])
