"""Experiments tell causes apart: what they say, which comes next, and the whole on a script."""

from __future__ import annotations

import json
import math
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from traindx.cli import cli
from traindx.core.nouns import Hypothesis, Problem, Run, Series
from traindx.experiment.confirm.belief import Belief, ExperimentObservation, ranked_again
from traindx.experiment.confirm.experiments import Planned, planned
from traindx.experiment.confirm.next_experiment import Price, choices
from traindx.experiment.confirm.outcome_words import (
    apart,
    same_numbers,
    show_fit,
    show_gain,
    show_need,
    unreached,
)
from traindx.experiment.measure import MeasuredLevel, Yardstick
from traindx.experiment.runtime.change import Change, change_specs
from traindx.experiment.treat.remedy_verdict import Pair, judge
from traindx.knowledge.catalogue import causes, symptoms
from traindx.knowledge.experiments import experiments, profiles

SCRIPT = Path(__file__).parent / "scripts" / "sums_gradients.py"
trials = pytest.mark.skipif(not hasattr(os, "fork"), reason="trials need fork")


def problem(symptom: str = "divergence", **shares: float) -> Problem:
    known = causes()
    made = tuple(Hypothesis(name, known[name].title, share, (), (), ()) for name, share in shares.items())
    return Problem(symptom, (), "high", 10.0, "It diverges.", (), made, 1 - sum(shares.values()))


def run(losses: list[float], **more: list[float]) -> Run:
    steps = np.arange(1.0, len(losses) + 1)
    made = {"loss": Series("loss", steps, np.array(losses), "test", "lower", 0.0)}
    for name, values in more.items():
        name = name.replace("val_", "val/")
        made[name] = Series(name, steps[: len(values)], np.array(values), "test", "lower")
    return Run("test", "test", ("recording",), "step", made)


class TestKnowledge:
    def test_every_profile_is_a_distribution(self) -> None:
        for rows in profiles().values():
            outcomes = {tuple(row) for row in rows.values()}
            assert len(outcomes) == 1
            for row in rows.values():
                assert sum(row.values()) == pytest.approx(1.0)
                assert min(row.values()) > 0

    def test_what_experiments_name_exists(self) -> None:
        for experiment in experiments().values():
            words = profiles()[experiment.measure]
            assert experiment.others in words
            assert set(experiment.causes) <= set(causes()), experiment.id
            assert set(experiment.causes.values()) <= set(words), experiment.id
            assert experiment.symptoms <= set(symptoms()), experiment.id
            if experiment.change:
                assert Change.parse(experiment.change).id in change_specs()

    def test_every_remedy_that_can_be_tried_is_an_experiment(self) -> None:
        made = experiments()
        assert made["zero_gradients"].causes["missing_zero_grad"] == "cures"
        assert made["lower_lr"].causes["lr_too_high"] == "cures"
        assert made["lower_lr"].causes["collapsed_outputs"] == "eases"


class TestBelief:
    def test_bayes(self) -> None:
        belief = Belief.of(problem(lr_too_high=0.4, missing_zero_grad=0.4))
        experiment = experiments()["zero_gradients"]
        after = belief.after(ExperimentObservation(experiment, "cured", 1.0, "it is gone"))
        rows = profiles()["gain"]
        odds = min(2.0**5, rows["cures"]["cured"] / rows["idle"]["cured"])
        assert after.shares["missing_zero_grad"] / after.shares["lr_too_high"] == pytest.approx(
            odds, rel=0.01
        )
        assert sum(after.shares.values()) + after.rest_now == pytest.approx(1.0)
        assert after.first == "missing_zero_grad"

    def test_an_unclear_result_moves_less(self) -> None:
        belief = Belief.of(problem(lr_too_high=0.4, missing_zero_grad=0.4))
        experiment = experiments()["zero_gradients"]
        clear = belief.after(ExperimentObservation(experiment, "helped", 1.0, ""))
        dim = belief.after(ExperimentObservation(experiment, "helped", 0.3, ""))
        assert clear.shares["missing_zero_grad"] > dim.shares["missing_zero_grad"] > 0.4

    def test_a_second_look_replaces_the_first(self) -> None:
        belief = Belief.of(problem(lr_too_high=0.4, missing_zero_grad=0.4))
        experiment = experiments()["zero_gradients"]
        looked = belief.after(ExperimentObservation(experiment, "active", 1.0, "")).after(
            ExperimentObservation(experiment, "cured", 1.0, "")
        )
        assert looked.shares == belief.after(ExperimentObservation(experiment, "cured", 1.0, "")).shares

    def test_expected_information_is_that_of_all_outcomes(self) -> None:
        belief = Belief.of(problem(lr_too_high=0.5, missing_zero_grad=0.5))
        experiment = experiments()["zero_gradients"]

        def entropy(shares: list[float]) -> float:
            return -sum(share * math.log2(share) for share in shares if share)

        expected = 1.0
        for outcome in experiment.outcomes:
            joint = [0.5 * experiment.likely(outcome, cause) for cause in belief.shares]
            expected -= sum(joint) * entropy([part / sum(joint) for part in joint])
        assert belief.expected(experiment) == pytest.approx(expected)

    def test_experiments_stand_among_the_evidence(self) -> None:
        first = problem(lr_too_high=0.5, missing_zero_grad=0.4)
        belief = Belief.of(first).after(
            ExperimentObservation(experiments()["zero_gradients"], "inert", 1.0, "Nothing.", 5.0)
        )
        ranked = ranked_again(first, belief).hypotheses
        assert next(one.cause for one in ranked) == "lr_too_high"
        against = next(one for one in ranked if one.cause == "missing_zero_grad").against
        assert against[0].finding == "zero_gradients"
        assert against[0].bits == -5.0
        assert against[0].text == "Nothing."


class TestChoosing:
    def test_an_experiment_that_tells_the_two_apart_comes_first(self) -> None:
        given = problem(lr_too_high=0.48, lr_too_low=0.48)
        able = choices(planned(given, run([1.0])), Belief.of(given), 100, Price(1.0, 0.01))
        assert able[0].plans[0].experiment.id in ("lower_lr", "raise_lr")

    def test_several_changes_that_do_nothing_by_themselves_share_a_run(self) -> None:
        given = problem(missing_zero_grad=0.3, wrong_mode=0.3, double_activation=0.3)
        first = choices(planned(given, run([1.0])), Belief.of(given), 100, Price(1.0, 0.01))[0]
        assert {plan.change.id for plan in first.plans} >= {"zero_gradients", "force_modes", "pass_logits"}

    def test_a_quicker_experiment_goes_before_one_that_tells_as_much(self) -> None:
        given = problem("plateau", lr_too_low=0.5, label_noise=0.45)
        able = choices(planned(given, run([1.0])), Belief.of(given), 100_000, Price(1.0, 0.1))
        assert able[0].plans[0].change.id == "repeat_batch"
        assert able[0].steps == 200


class TestReading:
    def plan(self, id: str, change: str) -> Planned:
        return Planned(experiments()[id], Change.parse(change))

    def test_gain(self) -> None:
        plan, by = self.plan("lower_lr", "scale_lr factor=0.1"), Yardstick("loss")
        for after, word in ((0.2, "cured"), (0.8, "helped"), (1.005, "same"), (1.6, "hurt")):
            shown = show_gain(
                plan, judge(by, [Pair(0, MeasuredLevel(1, 0.01, 50), MeasuredLevel(after, 0.01, 50))]), False
            )
            assert shown is not None
            assert shown.outcome == word
            assert "1 -> " in shown.text
            assert "at step 50" in shown.text

    def test_a_gain_within_the_noise_says_nothing(self) -> None:
        pair = Pair(0, MeasuredLevel(1, 0.3, 50), MeasuredLevel(0.8, 0.3, 50))
        assert (
            show_gain(self.plan("lower_lr", "scale_lr factor=0.1"), judge(Yardstick("loss"), [pair]), False)
            is None
        )

    def test_values_that_never_meet_are_apart(self) -> None:
        by, wild = Yardstick("val/loss"), [3.0, 90.0, 128.0, 91.0, 268.0]
        before, after = run([1.0] * 9, val_loss=wild), run([1.0] * 9, val_loss=[0.5, 0.03, 0.02, 0.02, 0.02])
        assert apart(by, before, after, None, 1.0) == "helped"
        assert apart(by, after, before, None, 1.0) == "hurt"
        assert apart(by, before, before, None, 1.0) is None
        assert apart(by, before, after, 2.0, 1.0) is None

    def test_one_batch(self) -> None:
        plan = self.plan("repeat_batch", "repeat_batch")
        for end, word in ((0.01, "fits"), (0.4, "falls"), (0.98, "stuck")):
            shown = show_fit(plan, run(list(np.linspace(1, end, 20)) + [end] * 40))
            assert shown is not None
            assert shown.outcome == word

    def test_inputs_that_are_not_used(self) -> None:
        plan, noise = self.plan("zero_inputs", "zero_inputs"), np.random.default_rng(0).normal(0, 0.01, 60)
        before = run(list(np.linspace(1, 0.2, 60) + noise))
        worse = show_need(plan, before, run(list(1 + noise)), 60)
        alike = show_need(plan, run(list(1 + noise)), run(list(1 + noise[::-1])), 60)
        assert worse is not None
        assert worse.outcome == "needed"
        assert alike is not None
        assert alike.outcome == "unneeded"

    def test_same_numbers_also_in_validation(self) -> None:
        losses = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5]
        assert same_numbers(run(losses, val_loss=[1.0]), run(losses[:5], val_loss=[1.0]))
        assert not same_numbers(run(losses, val_loss=[1.0]), run(losses, val_loss=[0.9]))
        assert not same_numbers(run(losses[:3]), run(losses[:3]))

    def test_no_place_to_act_is_no_answer(self) -> None:
        assert unreached("no DataLoader was made")
        assert unreached("no module with parameters was called")
        assert not unreached(
            "no gradients were left over from the step before: the script clears them itself"
        )
        assert not unreached("the model was in the right mode at every call")


def confirm(*words: str) -> Result:
    return CliRunner().invoke(cli, ["confirm", *words])


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log that shows a divergence and says nothing of its cause."""
    folder = tmp_path_factory.mktemp("confirm")
    shutil.copy(SCRIPT, folder / "train.py")
    rng = np.random.default_rng(0)
    losses = 2.0 * 1.12 ** np.arange(60) * rng.lognormal(0, 0.1, 60)
    lines = [f"step {step} loss {loss:.4f}" for step, loss in enumerate(losses, 1)]
    (folder / "train.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "train.log"


@trials
class TestCommand:
    def test_a_log_with_its_script(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(log.parent)
        before = sorted(log.parent.rglob("*"))
        ended = confirm("--json", "train.log", "train.py")
        assert ended.exit_code == 1, ended.output
        document = json.loads(ended.stdout)
        assert document["schema"] == "traindx/confirmation/1"
        assert document["cause"] == "missing_zero_grad"
        assert document["confidence"] > 0.9
        assert document["observed"]
        assert document["experiments"]
        first = document["diagnosis"]["problems"][0]["hypotheses"][0]
        assert any(item["finding"] == "zero_gradients" and item["bits"] > 1 for item in first["evidence"])
        assert sorted(log.parent.rglob("*")) == before

    def test_a_recording_and_what_diagnose_says_after_it(
        self, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from traindx.experiment.arms import Arm, Workshop
        from traindx.observe.program import find_script

        monkeypatch.chdir(log.parent)
        with Workshop(find_script("train.py", ()), keep=log.parent / "kept", jobs=1) as shop:
            made = shop.run_one(Arm("as it is", steps=80)).recording
        facts = json.loads((made / "run.json").read_text(encoding="utf-8"))
        facts.update(command="python train.py", folder=str(log.parent))
        (made / "run.json").write_text(json.dumps(facts), encoding="utf-8")
        ended = confirm(str(made), "--yes", "--save", "--top", "3")
        assert ended.exit_code == 1, ended.output
        assert "try 1" in ended.output
        assert "showed" in ended.output
        assert "bits expected" in ended.output
        said = CliRunner().invoke(cli, ["diagnose", str(made)]).output
        assert "confirmed" in said
        assert "on this script: " in said
        (log.parent / "train.py").write_text(
            "# other\n" + SCRIPT.read_text(encoding="utf-8"), encoding="utf-8"
        )
        changed = confirm(str(made))
        assert changed.exit_code == 2
        assert "has changed since it was recorded" in changed.output
        (log.parent / "train.py").unlink()
        assert "not there any more" in confirm(str(made)).output

    def test_dry_run(self, log: Path) -> None:
        ended = confirm("--dry-run", str(log), str(SCRIPT))
        assert ended.exit_code == 0, ended.output
        assert "bits expected" in ended.output


class TestRefusals:
    def test_a_log_alone(self, log: Path) -> None:
        ended = confirm(str(log))
        assert ended.exit_code == 2
        assert "does not say which script" in ended.output

    def test_nothing_there(self, tmp_path: Path) -> None:
        ended = confirm(str(tmp_path / "nothing"))
        assert ended.exit_code == 2
        assert "Traceback" not in ended.output

    def test_bad_time(self, log: Path) -> None:
        assert confirm("--time-budget", "soon", str(log)).exit_code == 2

    def test_save_needs_a_recording(self, log: Path) -> None:
        assert "--save" in confirm("--save", str(log), str(SCRIPT)).output
