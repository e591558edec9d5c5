"""`traindx diagnose` as somebody uses it: its options, its exit codes, its errors, its manners."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from tests.diagnoses import DEMO, broken, healthy, short_run
from traindx.cli import cli
from traindx.core.nouns import Diagnosis, Run
from traindx.core.units import Detector

SCHEMA = json.loads(
    (Path(__file__).parent / "contract" / "diagnosis.schema.json").read_text(encoding="utf-8")
)
HEALTHY = "step,loss,val_loss,lr\n" + "".join(
    f"{i},{0.4 + 3.6 * math.exp(-i / 40) + 0.01 * math.sin(7 * i):.5f},"
    f"{0.45 + 3.6 * math.exp(-i / 40) + 0.01 * math.cos(5 * i):.5f},0.001\n"
    for i in range(200)
)
BROKEN = "step,loss,lr\n" + "".join(
    f"{i},{'nan' if i > 120 else 3 * math.exp(-i / 40) + 0.3},0.001\n" for i in range(200)
)


def call(*args: object, stdin: str | None = None, columns: int = 100) -> Result:
    env = {"COLUMNS": str(columns), "TRAINDX_DEBUG": "1"}
    return CliRunner(env=env).invoke(cli, ["diagnose", *(str(a) for a in args)], input=stdin)


def process(*args: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "traindx", "diagnose", *(str(a) for a in args)]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", cwd=cwd, check=False, timeout=120
    )


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.csv"
    path.write_text(BROKEN, encoding="utf-8")
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.csv"
    path.write_text(HEALTHY, encoding="utf-8")
    return path


@pytest.fixture
def many(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    for number in range(24):
        (folder / f"exp{number:02}").mkdir(parents=True)
        text = other(BROKEN if number % 6 == 5 else HEALTHY, number)
        (folder / f"exp{number:02}" / "metrics.csv").write_text(text, encoding="utf-8")
    return folder


def other(text: str, number: int) -> str:
    """The same training with another learning rate: copies of one log would be one run."""
    return text.replace("0.001\n", f"{0.001 + number * 1e-6:.6f}\n")


def answer(monkeypatch: pytest.MonkeyPatch, diagnosis: Diagnosis) -> None:
    """Whatever the run, this is what is found in it."""

    def told(run: Run, **_: object) -> Diagnosis:
        return replace(diagnosis, run=run)

    monkeypatch.setattr("traindx.engine.diagnose", told)


# ---------------------------------------------------------------- verdicts and exit codes


def test_a_problem_is_exit_code_1(bad: Path) -> None:
    result = call(bad)
    assert result.exit_code == 1, result.output
    assert result.output.startswith("PROBLEM     went to NaN or Inf at step 121: ")
    assert "\x1b" not in result.output
    assert call(bad, "--exit-zero").exit_code == 0


def test_health_is_exit_code_0(good: Path) -> None:
    result = call(good)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("HEALTHY     ")
    assert "not checked because" in result.output


@pytest.mark.parametrize(("made", "code"), [(healthy, 0), (short_run, 0), (broken, 1)])
def test_the_verdict_decides(monkeypatch: pytest.MonkeyPatch, good: Path, made: object, code: int) -> None:
    answer(monkeypatch, made())  # type: ignore[operator]
    assert call(good).exit_code == code
    assert call(good, "--json").exit_code == code


def test_low_problems_leave_a_run_healthy(monkeypatch: pytest.MonkeyPatch, good: Path) -> None:
    answer(monkeypatch, replace(healthy(), problems=broken().problems[2:]))
    assert call(good).exit_code == 0


def test_the_demo_log_has_a_problem() -> None:
    result = call(DEMO)
    assert result.exit_code == 1
    assert "went to NaN or Inf" in result.output or "diverged" in result.output


def test_standard_input(bad: Path) -> None:
    result = call("-", stdin=bad.read_text(encoding="utf-8"))
    assert result.exit_code == 1
    assert "PROBLEM" in result.output


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_no_line_is_wider_than_the_terminal(bad: Path, good: Path, columns: int) -> None:
    for args in ([bad], [bad, "--all"], [good], [bad, good], [bad, good, "--all"]):
        output = call(*args, columns=columns).output
        assert max(map(len, output.splitlines())) <= columns


# ---------------------------------------------------------------- many runs


def test_several_runs_are_a_table_and_all_of_them_on_request(bad: Path, good: Path) -> None:
    result = call(good, bad)
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0] == "2 runs: 1 critical, 1 healthy"
    assert lines[3].split()[0] == "critical"
    assert lines[4].split()[0] == "healthy"
    assert "PROBLEM" not in result.output
    full = call(good, bad, "--all").output
    assert full.index("PROBLEM ") < full.index("HEALTHY ")


def test_many_runs_over_cores_give_what_one_core_gives(many: Path) -> None:
    apart = process(many, "--json", "--jobs", "2")
    alone = process(many, "--json", "--jobs", "1")
    assert apart.returncode == alone.returncode == 1
    assert apart.stderr == ""
    assert json.loads(apart.stdout) == json.loads(alone.stdout)
    document = json.loads(apart.stdout)
    assert document["schema"] == "traindx/diagnoses/1"
    assert len(document["runs"]) == 24
    assert [run["verdict"] for run in document["runs"]].count("problem") == 4
    assert all(run["source"]["points"] > 0 for run in document["runs"])


def children(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="tells by /proc when processes start")
@pytest.mark.parametrize("later", [0.0, 0.2, 0.8])
def test_ctrl_c_among_many_is_quiet(many: Path, later: float) -> None:
    for number in range(300):
        (many / f"more{number}.csv").write_text(other(HEALTHY, 100 + number), encoding="utf-8")
    command = [sys.executable, "-m", "traindx", "diagnose", str(many), "--jobs", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as child:
        end = time.monotonic() + 60
        while not children(child.pid) and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(later)
        os.killpg(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out.strip(), err.strip()) == (130, b"", b"")


def test_no_bar_in_a_pipe(many: Path) -> None:
    result = process(many)
    assert result.stderr == ""
    assert result.stdout.startswith("24 runs: 4 critical, 20 healthy")


# ---------------------------------------------------------------- JSON and files


def test_json_is_the_contract(bad: Path, good: Path) -> None:
    for path in (bad, good, DEMO):
        told = json.loads(call(path, "--json").output, parse_constant=lambda t: pytest.fail(f"bare {t}"))
        jsonschema.Draft202012Validator(SCHEMA).validate(told)
        assert told["source"]["path"] == str(path)
    for told in json.loads(call(bad, good, "--json").output)["runs"]:
        jsonschema.Draft202012Validator(SCHEMA).validate(told)


def test_json_says_what_was_not_read_even_when_nothing_was(tmp_path: Path) -> None:
    result = process("--json", tmp_path / "gone.csv")
    assert result.returncode == 2
    told = json.loads(result.stdout)
    assert told["runs"] == []
    assert told["skipped"][0]["text"] == "it does not exist"


def test_markdown_goes_to_a_file_or_to_the_output(bad: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.md"
    assert call(bad, "--md", out).exit_code == 1
    page = out.read_text(encoding="utf-8")
    assert page.startswith("# Diagnosis of `")
    assert call(bad, "--md", "-").output == page
    assert call(bad, "--md", "-", "--json").exit_code == 2


def test_nothing_is_replaced_unless_told(bad: Path, tmp_path: Path) -> None:
    for option in ("--md", "--html"):
        out = tmp_path / f"mine{option}"
        out.write_text("mine", encoding="utf-8")
        result = call(bad, option, out)
        assert result.exit_code == 2
        assert "exists already" in result.output
        assert out.read_text(encoding="utf-8") == "mine"
    assert call(bad, "--md", out, "--force").exit_code == 1
    assert out.read_text(encoding="utf-8").startswith("# Diagnosis")


def test_a_log_is_never_replaced(bad: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.md"
    link.symlink_to(bad)
    for out in (bad, link):
        result = call(bad, "--md", out, "--force")
        assert result.exit_code == 2
        assert "one of the logs" in result.output
        assert bad.read_text(encoding="utf-8") == BROKEN
    assert call(bad, "--md", tmp_path / "a", "--html", tmp_path / "a").exit_code == 2


def test_a_place_that_cannot_be_written(bad: Path, tmp_path: Path) -> None:
    for option in ("--md", "--html", "--plots"):
        place = bad if option == "--plots" else tmp_path / "no" / "such" / "place"
        result = call(bad, option, place)
        assert result.exit_code == 2, option
        assert "cannot be written" in result.output


def test_html_and_plots_are_written(bad: Path, good: Path, tmp_path: Path) -> None:
    page, folder = tmp_path / "page.html", tmp_path / "new" / "plots"
    result = call(bad, good, "--html", page, "--plots", folder)
    assert result.exit_code == 1, result.output
    assert "<html" in page.read_text(encoding="utf-8")[:2000].lower()
    pictures = list(folder.rglob("*.png"))
    assert pictures
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)
    assert "exists already" in call(bad, good, "--plots", folder).output
    assert call(bad, good, "--plots", folder, "--force").exit_code == 1


# ---------------------------------------------------------------- thresholds


def a_threshold() -> tuple[Detector, str, float]:
    """Some detector, a threshold of it and its default."""
    from traindx.core.units import detectors
    from traindx.knowledge.catalogue import thresholds

    for unit in detectors():
        for name, default in thresholds(unit).items():
            if isinstance(default, float):
                return unit, name, default
    pytest.fail("no detector has a threshold")


def test_thresholds_reach_the_detectors(monkeypatch: pytest.MonkeyPatch, good: Path, tmp_path: Path) -> None:
    unit, name, default = a_threshold()
    seen: list[object] = []

    def told(run: Run, *, thresholds: object, script: object) -> Diagnosis:
        assert script is None
        seen.append(thresholds)
        return replace(healthy(), run=run)

    monkeypatch.setattr("traindx.engine.diagnose", told)
    monkeypatch.chdir(tmp_path)
    assert call(good, "--set", f"{unit.id}.{name}={default * 2}").exit_code == 0
    (tmp_path / "traindx.toml").write_text(f"[thresholds.{unit.id}]\n{name} = 7.5\n", encoding="utf-8")
    assert call(good).exit_code == 0
    assert call(good, "--set", f"{unit.id}.{name}=3").exit_code == 0
    assert seen == [{unit.id: {name: default * 2}}, {unit.id: {name: 7.5}}, {unit.id: {name: 3}}]


def test_a_threshold_that_is_not_one(good: Path, tmp_path: Path) -> None:
    unit, name, _ = a_threshold()
    for text, told in (
        (f"{unit.id}x.{name}=3", f"did you mean '{unit.id}'"),
        (f"{unit.id}.{name}x=3", f"did you mean '{name}'"),
        (f"{unit.id}.{name}=many", "must be a number"),
    ):
        result = process(good, "--set", text)
        assert result.returncode == 2
        assert result.stdout == ""
        assert result.stderr.count("\n") == 1
        assert told in result.stderr
    for text in ("x", "a.b", "a=3", ".b=3", "a.=3", "a.b="):
        assert "--set takes DETECTOR.THRESHOLD=VALUE" in call(good, "--set", text).output
    (tmp_path / "traindx.toml").write_text("[thresholds.nothing]\nx = 1\n", encoding="utf-8")
    result = process(good.name, cwd=tmp_path)
    assert result.returncode == 2
    assert "traindx.toml: thresholds: no detector is called 'nothing'" in result.stderr
    assert result.stderr.count("\n") == 1


# ---------------------------------------------------------------- errors


def test_nothing_to_read_is_one_line(tmp_path: Path) -> None:
    result = process(tmp_path / "gone.log")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert ": it does not exist." in result.stderr


def test_one_bad_path_beside_a_good_one(good: Path, tmp_path: Path) -> None:
    result = process(good, tmp_path / "gone.log")
    assert result.returncode == 0
    assert ": it does not exist" in result.stderr
    assert "1 file or folder not read" in result.stdout


def test_a_hostile_name_stays_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("\x1b[31m<b>*x*`.csv")
    path.write_text(BROKEN, encoding="utf-8")
    result = call(path, "--all", "--md", tmp_path / "out.md")
    assert "\x1b" not in result.output
    assert "\\x1b[31m<b>" in "".join(result.output.split()), "wherever the line was wrapped"
    assert "\x1b" not in (tmp_path / "out.md").read_text(encoding="utf-8")


def test_a_closed_pipe_is_quiet(many: Path) -> None:
    command = [sys.executable, "-m", "traindx", "diagnose", str(many), "--all"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 141


def test_only_what_is_needed_is_loaded() -> None:
    code = (
        "import sys\nfrom traindx.cli import cli\n"
        f"try: cli(['diagnose', {str(DEMO)!r}])\nexcept SystemExit: pass\n"
        "print('\\n' + ' '.join(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in result.stdout.splitlines()[-1].split()}
    assert not loaded & {"scipy", "rich", "matplotlib", "plotly", "multiprocessing", "yaml", "torch"}
