"""`.traindx/evidence.jsonl`: what is kept is read back; what is foreign, torn or hostile is passed over."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from traindx.core.nouns import Run
from traindx.core.pool import PooledExperiment, PooledFinding, PooledTrial, add, digest_of, new_entry, pool_of
from traindx.engine import case_of, diagnose_case, read
from traindx.testing.sketch import run as sketch

LEAK = PooledFinding("validation_seen", "47 % were seen.", "silent_defect", "high", {"share": 0.47})
FAILED = PooledFinding("items_independent", "One sample depends on others.", "silent_defect", "medium")
HURT = PooledTrial("lower_lr", "scale_lr factor=0.1", "hurt", "hurt: loss 1 -> 2", ("lr",))
SHOWN = PooledExperiment("zero_inputs", "zeroed inputs: worse.", {"data_leakage": 1.5})


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text("print('training')\n")
    return path


def recorded(script: Path, args: str = "") -> Run:
    falling = [2.0 * 0.9**n + 0.1 for n in range(60)]
    facts = {
        "script": {"path": str(script), "sha256": digest_of(str(script))},
        "folder": str(script.parent),
        "command": f"python train.py {args}".strip(),
    }
    return sketch({"loss": falling, "val/loss": falling}, facts=facts)


def test_what_is_kept_is_read_back(script: Path) -> None:
    entry = replace(
        new_entry(str(script), ["--lr", "0.1"], "preflight"),
        findings=(LEAK,),
        trials=(HURT,),
        experiments=(SHOWN,),
    )
    assert add(script.parent, entry)
    assert pool_of(recorded(script, "--lr 0.1")) == (entry,)
    assert pool_of(recorded(script)) == (), "other arguments are another training"
    run = recorded(script, "--lr 0.1")
    script.write_text("print('another')\n")
    assert pool_of(run) == (), "the script has changed since"


def test_the_latest_run_of_a_command_counts(script: Path) -> None:
    entry = new_entry(str(script), (), "preflight")
    assert not add(script.parent, entry), "nothing to say and nothing to withdraw"
    assert add(script.parent, replace(entry, findings=(LEAK,)))
    assert add(script.parent, entry)
    assert [one.findings for one in pool_of(recorded(script))] == [()]


def test_findings_join_the_diagnosis_with_their_source(script: Path) -> None:
    healthy = diagnose_case(case_of(recorded(script)))
    assert healthy.verdict == "healthy"
    add(script.parent, replace(new_entry(str(script), (), "preflight"), findings=(LEAK,)))
    diagnosis = diagnose_case(case_of(recorded(script)))
    assert diagnosis.verdict == "problem"
    [problem] = diagnosis.problems
    assert problem.summary == "47 % were seen (preflight, just now)."
    assert problem.hypotheses[0].cause == "data_leakage"
    assert [check.seen for check in diagnosis.coverage if check.check == "validation_seen"] == [True]


def test_a_failed_check_and_an_experiment_join_it_too(script: Path) -> None:
    check = replace(FAILED, cause="data_leakage")
    entry = replace(new_entry(str(script), (), "preflight"), findings=(check,), experiments=(SHOWN,))
    add(script.parent, entry)
    diagnosis = diagnose_case(case_of(recorded(script)))
    first = diagnosis.problems[0].hypotheses[0]
    assert first.cause == "data_leakage"
    assert {"items_independent", "zero_inputs"} <= {item.finding for item in first.evidence}
    assert diagnosis.to_dict()["verdict"] == "problem"


def test_what_a_trial_refuted_is_not_advised_by_a_later_diagnosis(script: Path) -> None:
    run = recorded(script)
    wild = sketch(
        {"loss": [2.0 * 0.95**n for n in range(60)] + [1.3**n for n in range(60)]},
        settings={"lr": 1.0, "optimizer": "SGD"},
        facts=run.facts,
    )
    advised = [fix.remedy for one in diagnose_case(case_of(wild)).problems[0].hypotheses for fix in one.fixes]
    assert "lower_lr" in advised
    add(script.parent, replace(new_entry(str(script), (), "treat"), trials=(HURT,)))
    left = [fix.remedy for one in diagnose_case(case_of(wild)).problems[0].hypotheses for fix in one.fixes]
    assert left
    assert "lower_lr" not in left


BROKEN = [
    b"",
    b"{",
    b"[1, 2]",
    b"null",
    b'{"script": 1}',
    b'"' + b"x" * 100_000 + b'"',
    b"\xff\xfe\x00",
    b"[" * 5000,
]


@pytest.mark.parametrize("line", BROKEN)
def test_torn_and_foreign_lines_are_passed_over(script: Path, line: bytes) -> None:
    add(script.parent, replace(new_entry(str(script), (), "preflight"), findings=(LEAK,)))
    path = script.parent / ".traindx" / "evidence.jsonl"
    path.write_bytes(line + b"\n" + path.read_bytes() + line)
    [entry] = pool_of(recorded(script))
    assert entry.findings == (LEAK,)


@pytest.mark.parametrize(
    "change",
    [
        {"symptom": "no_such_symptom"},
        {"severity": "dreadful"},
        {"text": 7},
        {"numbers": [1]},
        {"id": {"a": 1}},
        {"cause": None},
    ],
)
def test_findings_that_are_none_never_raise(script: Path, change: dict[str, object]) -> None:
    add(script.parent, replace(new_entry(str(script), (), "preflight"), findings=(LEAK,)))
    path = script.parent / ".traindx" / "evidence.jsonl"
    entry = json.loads(path.read_text())
    entry["findings"][0].update(change)
    entry["experiments"] = [{"id": "x", "text": "y", "bits": {"data_leakage": 1e9, "no_such_cause": 1.0}}]
    path.write_text(json.dumps(entry) + "\n")
    assert diagnose_case(case_of(recorded(script))).verdict == "healthy"


def test_what_cannot_be_written_or_read_is_no_error(script: Path) -> None:
    (script.parent / ".traindx").write_text("a file")
    entry = replace(new_entry(str(script), (), "preflight"), findings=(LEAK,))
    assert not add(script.parent, entry)
    assert pool_of(recorded(script)) == ()
    (script.parent / ".traindx").unlink()
    os.mkdir(script.parent / ".traindx")
    os.mkfifo(script.parent / ".traindx" / "evidence.jsonl")
    assert not add(script.parent, entry), "a pipe would wait for a reader"
    assert pool_of(recorded(script)) == ()
    assert not add(script.parent, replace(new_entry("nowhere.py", (), "preflight"), findings=(LEAK,)))


def test_a_store_of_any_size_is_read_in_bounds(script: Path) -> None:
    add(script.parent, replace(new_entry(str(script), (), "preflight"), findings=(LEAK,)))
    path = script.parent / ".traindx" / "evidence.jsonl"
    line = path.read_bytes()
    path.write_bytes(b"x" * 5_000_000 + b"\n" + line)
    [entry] = pool_of(recorded(script))
    assert entry.findings == (LEAK,)
    many = json.loads(line)
    many["findings"] = many["findings"] * 10_000
    path.write_text(json.dumps(many) + "\n")
    assert all(len(one.findings) <= 60 for one in pool_of(recorded(script)))


@pytest.mark.parametrize("path", [".traindx", ".traindx/evidence.jsonl"])
def test_the_store_is_no_log(script: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    add(script.parent, replace(new_entry(str(script), (), "preflight"), findings=(LEAK,)))
    (script.parent / ".traindx" / "casebook.jsonl").write_text('{"loss": 1.0}\n{"loss": 0.5}\n')
    monkeypatch.chdir(script.parent)
    assert read(path).runs == ()
