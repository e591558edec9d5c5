"""`traindx brief` and `traindx show`: measured facts on one page, and what is behind each."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from clinic.corpus import unpack

import traindx
from traindx.cli import cli
from traindx.report.brief.facts import estimated_tokens

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "tests" / "samples"
DEMO = ROOT / "src" / "traindx" / "cli" / "_demo" / "diverged.log"
RECORDINGS = ("second/birdsong", "churn_mlp/faulty", "moons_classifier/healthy", "lookalikes/gan_ring")
LOGS = ("hf-trainer/nan_shown", "keras/training.log", "keras/nan.csv", "lightning", "text/keras.log", "wandb")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    assert unpack(folder, set(RECORDINGS)) == sorted(RECORDINGS)
    return folder


def call(*args: object) -> Result:
    return CliRunner().invoke(cli, [str(arg) for arg in args])


def page(*args: object) -> list[str]:
    result = call("brief", *args)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def line_of(lines: list[str], label: str) -> str:
    """The text of the fact with a label."""
    (found,) = [line for line in lines if re.match(rf"F[\d.]+ {re.escape(label)}: ", line)]
    return found.partition(": ")[2]


def strict(text: str) -> Any:
    """JSON as the standard has it: no bare NaN."""

    def refused(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refused)


def table_of_losses(path: Path, losses: list[float]) -> Path:
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["step", "loss"])
        rows.writerows(enumerate(losses))
    return path


# ---------------------------------------------------------------- the page


def test_a_recording_says_what_was_measured(corpus: Path) -> None:
    lines = page(corpus / "second/birdsong", "--tokens", 3000)
    assert "2,000 training samples in batches of 50" in line_of(lines, "data")
    assert "SongNet" in line_of(lines, "model")
    assert "dropout 0.9" in line_of(lines, "model")
    assert "2.079" in line_of(lines, "chance")  # ln 8
    assert "the model 17 %" in line_of(lines, "simple models")
    assert "0 of 3,072 checked of validation trained on" in line_of(lines, "samples")
    assert "2 above" in line_of(lines, "layer updates")
    assert line_of(lines, "memory").startswith("process ")
    assert re.search(
        r"over_regularised 95 % at \S*birdsong.py:22 by F\d+", line_of(lines, "problem not_learning")
    )
    assert "traindx preflight" in line_of(lines, "not measured")


def test_the_evidence_of_a_cause_is_on_the_page(corpus: Path) -> None:
    for name in RECORDINGS[:2]:
        lines = page(corpus / name)
        handles = {line.split()[0] for line in lines}
        named = {
            handle for line in lines if " problem " in line for handle in re.findall(r"\bF\d+", line)[1:]
        }
        assert named
        assert named <= handles


def test_numbers_of_a_log_are_those_of_its_file(tmp_path: Path) -> None:
    losses = [2.0 * math.exp(-0.05 * step) + 0.3 + 0.01 * (step % 3) for step in range(60)]
    path = table_of_losses(tmp_path / "log.csv", losses)
    lines = page(path)
    best = min(range(60), key=losses.__getitem__)
    text = line_of(lines, "curve loss")
    assert text.startswith(f"{losses[0]:.4g} at step 0 -> {losses[-1]:.4g} at step 59")
    assert f"best {losses[best]:.4g} at step {best}" in text
    assert "traindx run SCRIPT" in "".join(lines)


def test_where_a_loss_broke_is_said() -> None:
    lines = page(SAMPLES / "keras" / "nan.csv")
    assert re.match(r"first NaN or Inf at epoch \d+", line_of(lines, "turn loss"))


@pytest.mark.parametrize("log", LOGS)
def test_pages_of_logs_fit_and_are_the_same_again(log: str) -> None:
    lines = page(SAMPLES / log)
    assert estimated_tokens("\n".join(lines)) <= 1200
    assert lines == page(SAMPLES / log)
    assert all(re.match(r"F\d+ \S", line) for line in lines)


@pytest.mark.parametrize("name", RECORDINGS)
def test_handles_do_not_depend_on_the_tokens(corpus: Path, name: str) -> None:
    everything = page(corpus / name, "--tokens", 100_000)
    for tokens in (150, 400, 1200):
        *lines, last = page(corpus / name, "--tokens", tokens)
        assert estimated_tokens("\n".join([*lines, last])) <= tokens
        if "left out" not in last:
            assert [*lines, last] == everything
            continue
        assert set(lines) < set(everything)
        assert int(last.split()[0]) == len(everything) - len(lines)
        more = int(re.search(r"--tokens (\d+)", last)[1])  # type: ignore[index]
        assert page(corpus / name, "--tokens", more) == everything


def test_without_a_problem_there_are_notes_only(corpus: Path) -> None:
    """What is too slight to act on must not read as trouble."""
    for name in RECORDINGS[2:]:
        diagnosis = traindx.diagnose(corpus / name)
        assert diagnosis.verdict != "problem"
        labels = [fact.label for fact in traindx.brief(diagnosis).facts]
        assert "verdict" in labels
        assert not {label.split()[0] for label in labels} & {"problem", "to", "next"}


def test_what_matters_most_stays_longest(corpus: Path) -> None:
    lines = page(corpus / "second/birdsong", "--tokens", 200)
    assert any(" problem not_learning: " in line for line in lines)
    assert not any(" memory: " in line for line in lines)


def test_a_token_is_never_counted_as_less_than_a_tokenizer_would() -> None:
    assert estimated_tokens("") == 0
    assert estimated_tokens("a" * 35) >= 10
    assert estimated_tokens("0.6931471805") >= 5
    assert estimated_tokens("{}[](),") == 7


# ---------------------------------------------------------------- folders


def test_a_folder_is_a_line_for_each_run_and_handles_lead_on(tmp_path: Path) -> None:
    table_of_losses(tmp_path / "good.csv", [2.0 * 0.95**step + 0.1 for step in range(80)])
    table_of_losses(tmp_path / "bad.csv", [1.0 + (0.2 * step if step > 20 else 0) for step in range(80)])
    lines = page(tmp_path)
    assert line_of(lines, "runs").startswith("2 runs: ")
    assert [line.split()[1] for line in lines[1:]] == ["bad.csv:", "good.csv:"]
    run = call("show", tmp_path, "F2").stdout.splitlines()
    assert all(re.match(r"F2\.\d+ ", line) for line in run)
    handle = next(line.split()[0] for line in run if " curve loss: " in line)
    shown = call("show", tmp_path, handle, "--json", "-")
    assert strict(shown.stdout)["series"][0]["values"][-1] == pytest.approx(1.0 + 0.2 * 79)


def test_several_trainings_of_one_log_are_one_page() -> None:
    lines = page(SAMPLES / "keras" / "appended.csv")
    assert "this is the worst" in line_of(lines, "trainings")


# ---------------------------------------------------------------- behind a handle


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_handle_leads_somewhere(corpus: Path, name: str, tmp_path: Path) -> None:
    call("brief", corpus / name, "--json", tmp_path / "all.json")
    known = strict((tmp_path / "all.json").read_text())
    run = traindx.read(corpus / name).runs[0]
    brief = traindx.brief(corpus / name)
    assert [fact["handle"] for fact in known["facts"]] == [handle for handle, _ in brief.items()]
    for fact in known["facts"][:: max(1, len(known["facts"]) // 12)]:
        text = call("show", corpus / name, fact["handle"])
        assert text.exit_code == 0, text.output
        assert text.stdout.startswith(f"{fact['handle']} {fact['label']}: ")
        data = strict(call("show", corpus / name, fact["handle"], "--json", "-").stdout)
        assert ("series" in fact["behind"]) == bool(data["series"])
        for series in data["series"]:
            assert series["values"][-1] == pytest.approx(float(run.series[series["name"]].values[-1]))


def test_a_finding_shows_its_numbers_and_thresholds(corpus: Path) -> None:
    lines = page(corpus / "second/birdsong", "--tokens", 5000)
    handle = next(line.split()[0] for line in lines if " dropout_drowns: " in line)
    data = strict(call("show", corpus / "second/birdsong", handle, "--json", "-").stdout)["finding"]
    assert data["id"] == "dropout_drowns"
    assert data["thresholds"]
    assert "traindx explain dropout_drowns" in call("show", corpus / "second/birdsong", handle).stdout


def test_curves_and_layers_are_drawn(corpus: Path, tmp_path: Path) -> None:
    path = corpus / "churn_mlp/faulty"
    lines = page(path, "--tokens", 5000)
    for label in ("curve loss", "layer updates", "time", "data_wait"):
        handle = next(line.split()[0] for line in lines if f" {label}: " in line)
        file = tmp_path / f"{handle}.png"
        assert call("show", path, handle, "--png", file).exit_code == 0
        assert file.read_bytes().startswith(b"\x89PNG")


def test_nan_is_valid_json(tmp_path: Path) -> None:
    path = table_of_losses(tmp_path / "log.csv", [1.0, 0.9, 0.8, float("nan"), float("inf"), 0.7, 0.6, 0.5])
    lines = page(path)
    handle = next(line.split()[0] for line in lines if " curve loss: " in line)
    values = strict(call("show", path, handle, "--json", "-").stdout)["series"][0]["values"]
    assert values[3:5] == ["NaN", "Infinity"]
    strict(call("brief", path, "--json", "-").stdout)


# ---------------------------------------------------------------- what cannot be done


def test_errors_are_one_line(tmp_path: Path) -> None:
    log = table_of_losses(tmp_path / "log.csv", [1.0 / (1 + step) for step in range(30)])
    for args, words in (
        (("brief", tmp_path / "nowhere"), "nowhere"),
        (("brief", log, "--json", log), "one of the logs"),
        (("show", log, "F999"), "F999 is no fact"),
        (("show", log, "what"), "no handle"),
        (("show", log, "F1.1"), "is no run of a folder"),
        (("show", log, "F1", "--png", tmp_path / "x.png"), "leave out --png"),
    ):
        result = call(*args)
        assert result.exit_code == 2, result.output
        assert words in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1


def test_hostile_names_cannot_steer_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    rows = [{"step": step, "loss": 1 / (1 + step), "\x1b[31mval_acc\n": 0.5} for step in range(20)]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    assert "\x1b" not in call("brief", path).stdout


# ---------------------------------------------------------------- Python and the page of docs


def test_in_python(corpus: Path) -> None:
    path = corpus / "second/birdsong"
    brief = traindx.brief(path)
    assert str(brief).splitlines() == page(path)
    assert str(traindx.brief(traindx.diagnose(path))) == str(brief)
    with pytest.raises(ValueError, match="no training run"):
        traindx.brief(corpus / "nowhere")


def test_the_examples_of_the_docs_are_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(DEMO, tmp_path / "diverged.log")
    text = (ROOT / "docs" / "brief.md").read_text(encoding="utf-8")
    examples = re.findall(r"```text\n\$ traindx ([^\n]+)\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 2
    for command, printed in examples:
        shown = call(*command.split()).stdout
        # How many checks there are changes with every detector.
        assert re.sub(r"\d+ (?=of|checks|need)", "", shown) == re.sub(r"\d+ (?=of|checks|need)", "", printed)
