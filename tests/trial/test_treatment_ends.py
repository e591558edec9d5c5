"""Treatments of scripts that fail, last too long, or are changed round by round; runs are made up."""

from __future__ import annotations

import queue
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import click
import numpy as np
import pytest

from traindx.cli._apply import apply
from traindx.cli._output import check_place
from traindx.experiment.arm_diagnosis import examined
from traindx.experiment.arms import Arm, Outcome, Workshop
from traindx.experiment.edit import text_now
from traindx.experiment.keeper_client import Bench
from traindx.experiment.measure import Yardstick
from traindx.experiment.outcomes import Ended, outcome_of
from traindx.experiment.runtime.change import Change
from traindx.experiment.treat.candidates import Candidate, CauseCandidates
from traindx.experiment.treat.ledger import Ledger
from traindx.experiment.treat.remedy_verdict import judge
from traindx.experiment.treat.request import ScriptState, TreatRequest
from traindx.experiment.treat.results import Proof, Round, Treated
from traindx.experiment.treat.screening import Screening
from traindx.experiment.treat.treatment import Treatment, in_words
from traindx.report.treatment_files import patch_of
from traindx.testing.sketch import run as sketch

LOWER = Candidate("lower_lr", "lr_too_high", 0.9, (Change("scale_lr", {"factor": 0.1}),))


def falling(end: float, steps: int = 200) -> list[float]:
    noise = 0.01 * np.random.default_rng(0).standard_normal(steps)
    return list(end + (2.0 - end) * np.exp(-np.arange(steps) / 40) + noise)


def outcome(arm: Arm, end: float, ended: Ended = "finished", steps: int = 200, said: str = "") -> Outcome:
    made = sketch({"loss": falling(end, steps)}) if steps else None
    code = 1 if ended == "crashed" else 0
    return Outcome(arm, Path("nowhere"), made, code, 1.0, steps, ended, said, changeable=True)


class Shop:
    """Gives made-up outcomes; remembers what it was asked for and how it would be stopped."""

    def __init__(self, answer: Any, left: float | None = None) -> None:
        self.answer, self.seconds_left, self.spent = answer, left, False
        self.asked: list[Arm] = []
        self.stops: list[Any] = []
        self.program = SimpleNamespace(name="train.py")

    def run(self, arms: Sequence[Arm], *, progress: Any = None, stop: Any = None) -> Iterator[Outcome]:
        del progress
        self.stops.append(stop)
        for arm in arms:
            self.asked.append(arm)
            yield self.answer(arm)


def nothing(kind: str, told: Mapping[str, Any]) -> None:
    del kind, told


def treatment(shop: Shop) -> Treatment:
    return Treatment(cast(Workshop, shop), None, (), TreatRequest(), nothing)


def screening(shop: Shop, args: tuple[str, ...] = ()) -> Screening:
    base = outcome(Arm("untouched"), 1.0)
    assert base.run is not None
    patient = ScriptState(None, args, base, examined(base.run, None))
    wishes = TreatRequest(seeds=2)
    ledger = Ledger(cast(Workshop, shop), "train.py", wishes, nothing)
    return Screening(ledger, patient, 200, wishes, nothing)


def test_a_script_that_fails_is_never_called_healthy() -> None:
    treated = treatment(Shop(lambda arm: outcome(arm, 0.1, "crashed", said="ValueError: boom"))).run()
    assert treated.status == "unclear"
    assert "ValueError: boom" in treated.summary


def test_a_training_longer_than_the_time_leaves_some_for_trials() -> None:
    shop, arm = Shop(lambda arm: outcome(arm, 0.1), left=100.0), Arm("untouched")
    treating = treatment(shop)
    treating.run()
    [stop] = shop.stops
    treating.ledger.progress(arm, 0, 90.0)
    assert stop(arm, Path()) is None  # not one step yet
    treating.ledger.progress(arm, 300, 20.0)
    assert stop(arm, Path()) is None
    treating.ledger.progress(arm, 300, 40.0)
    assert stop(arm, Path())


@pytest.mark.parametrize(
    ("ended", "steps", "cut"),
    [("crashed", 50, True), ("timed out", 50, True), ("stopped", 50, False), ("crashed", 199, False)],
)
def test_what_ended_early_is_not_judged_at_another_moment(ended: Ended, steps: int, cut: bool) -> None:
    shop = Shop(lambda arm: outcome(arm, 0.1, ended, steps, "it ended"))
    trials, _ = screening(shop).run([CauseCandidates("lr_too_high", 0.9, "divergence", (LOWER,))])
    assert (trials[0].verdict is None) is cut
    assert not cut or trials[0].reason == "it ended"


def test_a_seed_there_was_no_time_for_does_not_take_the_gain_back() -> None:
    def answer(arm: Arm) -> Outcome:
        return outcome(arm, 0.1) if not arm.seed else outcome(arm, 0.1, "timed out", 0, "no time")

    _, winner = screening(Shop(answer)).run([CauseCandidates("lr_too_high", 0.9, "divergence", (LOWER,))])
    assert winner is not None


def test_no_change_is_tried_together_with_itself() -> None:
    """`swap_activation + reinitialise` with `reinitialise` is the first of them again."""
    he, relu = Change("reinitialise", {"kind": "he"}), Change("swap_activation", {"to": "relu"})
    norm = Change("insert_norm", {"kind": "layer"})
    candidates = (
        Candidate("swap_activation", "saturating_activation", 0.9, (relu, he)),
        Candidate("reinitialise", "saturating_activation", 0.9, (he,)),
        Candidate("add_normalisation", "saturating_activation", 0.9, (norm,)),
    )
    shop = Shop(lambda arm: outcome(arm, 1.0))
    screening(shop).run([CauseCandidates("saturating_activation", 0.9, "not_learning", candidates)])
    tried = {arm.changes for arm in shop.asked if arm.changes}
    assert (relu, he, norm) in tried
    assert (he, norm) in tried
    assert all(len({change.id for change in changes}) == len(changes) for changes in tried)


def test_a_seed_that_contradicts_takes_the_gain_back() -> None:
    def answer(arm: Arm) -> Outcome:
        return outcome(arm, 2.0 if arm.seed and arm.changes else 1.0 if arm.seed else 0.1)

    trials, winner = screening(Shop(answer)).run(
        [CauseCandidates("lr_too_high", 0.9, "divergence", (LOWER,))]
    )
    assert winner is None
    assert [trial.verdict.word for trial in trials if trial.verdict] == ["cannot tell"]


@pytest.mark.parametrize(("left", "status"), [(1.0, "treated"), (40.0, "improved")])
def test_trouble_that_is_still_seen_is_not_called_mended(left: float, status: str) -> None:
    rising = [*np.linspace(2.0, 0.5, 100), *np.linspace(0.5, 80.0, 100)]
    eased = [*np.linspace(2.0, 0.5, 100), *np.linspace(0.5, left, 100)]
    before = examined(sketch({"loss": rising}), None)
    after = examined(sketch({"loss": np.linspace(2.0, 0.1, 200) if left == 1.0 else eased}), None)
    assert before.verdict == "problem"
    one = outcome(Arm("edited"), 0.1)
    verdict = judge(Yardstick("loss"), [])
    done = Round(before, (), 200, proof=Proof(one, verdict, after, True))
    found, said = in_words(before, [done], [done])
    assert found == status
    assert ("still found in it" in said) is (status == "improved")


def test_a_command_line_mended_before_stays_for_the_next_round() -> None:
    shop = Shop(lambda arm: outcome(arm, 0.1))
    screening(shop, ("--lr", "0.1")).run([CauseCandidates("lr_too_high", 0.9, "divergence", (LOWER,))])
    assert {arm.args for arm in shop.asked} == {("--lr", "0.1")}


def test_an_arm_started_after_the_keeper_died_ends() -> None:
    bench = object.__new__(Bench)
    bench._messages, bench._began = queue.Queue(), {"a1": None}
    bench._messages.put({"gone": True})
    assert [name for name, *_ in bench.ended(0.1)] == ["a1"]
    bench._began["a2"] = None
    assert [name for name, *_ in bench.ended(0.1)] == ["a2"]


def test_apply_writes_all_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("lr = 1\n")
    second.write_text("changed meanwhile\n")
    sources = {str(first): ("lr = 1\n", "lr = 2\n"), str(second): ("wd = 1\n", "wd = 2\n")}
    with pytest.raises(click.ClickException, match="nothing was written"):
        apply(Treated("a.py", (), "treated", "", None, sources=sources))
    assert first.read_text() == "lr = 1\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "b.py"]


@pytest.mark.parametrize("name", ["train.py", "settings.yaml"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_the_patch_of_any_file_is_what_git_applies(tmp_path: Path, name: str, ends: str) -> None:
    path = tmp_path / name
    path.write_bytes(f"# one{ends}lr = 1{ends}# \x0cthree{ends}".encode())
    before = text_now(str(path))
    after = before.replace("lr = 1", "lr = 2")
    treated = Treated(name, (), "treated", "", None, sources={str(path): (before, after)})
    patch = patch_of(treated, tmp_path)
    assert patch.count("\n-") == patch.count("\n+") - 1 == 1
    (tmp_path / "fix.patch").write_bytes(patch.encode())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", "fix.patch"], cwd=tmp_path, check=True)
    assert path.read_bytes() == after.encode()


def test_a_script_that_ends_its_training_but_not_itself_has_finished(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"ended": {"how": "finished", "text": "", "step": 300}}')
    told = outcome_of(
        Arm("untouched"), tmp_path, tmp_path, -9, seconds=9.0, stopped="its 9 s were over", out_of_time=True
    )
    assert told.ended == "finished"
    assert "did not exit" in told.message


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_place(tmp_path / "new" / "newer", "--out")
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(click.ClickException, match="cannot be written to"):
        check_place(tmp_path / "new" / "newer", "--out")
