"""What trials leave to be advised, how the best value counts, and when to stop."""

from __future__ import annotations

import numpy as np
import pytest

from traindx.core.nouns import Diagnosis, Fix, Hypothesis, Problem
from traindx.core.pool import PooledTrial
from traindx.experiment.arm_diagnosis import examined
from traindx.experiment.measure import Yardstick, read_level
from traindx.experiment.runtime.change import Change
from traindx.experiment.treat.before_after import before_after
from traindx.experiment.treat.candidates import Candidate, CauseCandidates, by_hand
from traindx.experiment.treat.remedy_verdict import Pair, TrialVerdict, by_the_best, judge
from traindx.experiment.treat.results import Round, Trial
from traindx.experiment.treat.stopping import when_to_stop
from traindx.knowledge.advice import advised, advised_fix, against_undoing
from traindx.testing.sketch import run as sketch

REGULARISE = Fix("add_regularisation", "Add augmentation, then weight decay.", {"weight_decay": 0.1})
REVIVE = Fix("revive_units", "Replace ReLU by LeakyReLU and lower lr.", {"lr": 1e-4})


def tried(remedy: str, change: str, verdict: str, *knobs: str) -> PooledTrial:
    return PooledTrial(remedy, change, verdict, f"{verdict}: loss 1 -> 2", knobs)


def validated(best: float, end: float, accuracy: float) -> dict[str, list[float]]:
    """A training whose validation is best at a third of its length."""
    down, up = np.linspace(1.4, best, 20), np.linspace(best, end, 40)
    return {
        "loss": list(np.linspace(1.4, 0.05, 60)),
        "val/loss": [*down, *up],
        "val/accuracy": [*np.linspace(0.3, accuracy, 60)],
    }


class TestAdvice:
    def test_a_remedy_whose_every_knob_was_refuted_is_not_advised(self) -> None:
        trials = [
            tried("revive_units", "swap_activation to=leaky_relu", "no difference", "activation"),
            tried("revive_units", "scale_lr factor=0.1", "hurt", "lr"),
        ]
        assert advised_fix(REVIVE, trials) is None

    def test_what_of_it_was_not_tried_stays_and_the_refuted_part_goes(self) -> None:
        trials = [tried("add_regularisation", "set_weight_decay value=0.1", "hurt", "weight_decay")]
        left = advised_fix(REGULARISE, trials)
        assert left is not None
        assert "weight decay made it worse here" in left.summary
        assert "not tried: dropout, augmentation" in left.summary
        assert not left.config

    def test_where_one_alone_cures_both_together_are_not_advised(self) -> None:
        trials = [
            tried(
                "revive_units",
                "swap_activation to=leaky_relu + scale_lr factor=0.1",
                "hurt",
                "activation",
                "lr",
            ),
            tried("revive_units", "swap_activation to=leaky_relu", "helped", "activation"),
        ]
        left = advised_fix(REVIVE, trials)
        assert left is not None
        assert "swap_activation to=leaky_relu" in left.summary
        assert "lower lr" not in left.summary
        assert not left.config

    @pytest.mark.parametrize("verdict", ["cannot tell", "not judged"])
    def test_what_no_trial_decided_may_be_advised(self, verdict: str) -> None:
        trials = [tried("add_regularisation", "set_weight_decay value=0.1", verdict, "weight_decay")]
        assert advised_fix(REGULARISE, trials) is REGULARISE

    def test_trials_of_another_remedy_say_nothing(self) -> None:
        assert advised_fix(REVIVE, [tried("lower_lr", "scale_lr factor=0.1", "hurt", "lr")]) is REVIVE
        both = tried("revive_units + lower_lr", "a + b", "hurt", "activation", "lr")
        assert advised_fix(REVIVE, [both]) is REVIVE, "two remedies at once say nothing about one"

    def test_a_diagnosis_keeps_its_causes_and_loses_refuted_fixes(self) -> None:
        hypothesis = Hypothesis("dead_units", "Dead units", 0.9, (), (), (REVIVE, REGULARISE))
        problem = Problem("dead_units", (), "high", None, "", (), (hypothesis,), 0.1)
        diagnosis = Diagnosis(sketch({"loss": [1.0, 1.0]}), "problem", (problem,), ())
        trials = [tried("revive_units", "x", "hurt", "activation", "lr")]
        [left] = advised(diagnosis, trials).problems[0].hypotheses
        assert left.fixes == (REGULARISE,)
        assert advised(diagnosis, ()) is diagnosis

    def test_what_was_proven_speaks_against_undoing_it(self) -> None:
        decay = against_undoing(
            tried("add_regularisation", "set_weight_decay value=0.1", "helped", "weight_decay")
        )
        assert decay is not None
        assert set(decay.bits) == {"weight_decay_too_high", "over_regularised"}
        assert all(bits < 0 for bits in decay.bits.values())
        assert against_undoing(tried("normalise_inputs", "normalise_inputs", "helped", "inputs")) is None

    def test_a_proven_weight_decay_is_not_called_too_high_next(self) -> None:
        """Decay of 3 far out of the usual range, and a loss that stands: the setting would explain it."""
        flat = list(2.3 + 0.01 * np.random.default_rng(0).standard_normal(300))
        made = sketch({"loss": flat}, settings={"weight_decay": 3.0, "optimizer": "sgd", "lr": 1e-2})
        proven = tried("add_regularisation", "set_weight_decay value=3", "helped", "weight_decay")

        def share(diagnosis: Diagnosis) -> float:
            listed = [h for p in diagnosis.problems for h in p.hypotheses]
            return sum(h.confidence for h in listed if h.cause == "weight_decay_too_high")

        before, after = examined(made, None, every_cause=True), examined(made, None, proven=proven)
        assert share(before) > 0.2
        assert share(after) < 0.3 * share(before)

    def test_by_hand_comes_what_no_trial_speaks_against(self) -> None:
        course = CauseCandidates("dead_units", 0.9, "dead_units", (), (), (REVIVE, REGULARISE))
        trials = [tried("revive_units", "x", "hurt", "activation", "lr")]
        words = by_hand([course], trials)
        assert words is not None
        assert words.text == REGULARISE.summary
        first = by_hand([course], ())
        assert first is not None
        assert first.text == REVIVE.summary
        refuted = [
            *trials,
            tried(
                "add_regularisation",
                "y",
                "hurt",
                *"weight_decay dropout augmentation label_smoothing".split(),
            ),
        ]
        assert by_hand([course], refuted) is None


class TestBest:
    def verdict(self, before: dict[str, list[float]], after: dict[str, list[float]]) -> TrialVerdict:
        by, runs = Yardstick("val/loss"), (sketch(before), sketch(after))
        levels = [read_level(run, by) for run in runs]
        assert levels[0] is not None
        assert levels[1] is not None
        return by_the_best(judge(by, [Pair(0, levels[0], levels[1])]), [runs])

    def test_an_end_that_is_better_with_a_worse_best_is_no_cure(self) -> None:
        verdict = self.verdict(validated(0.792, 1.9, 0.7), validated(0.834, 0.9, 0.7))
        assert verdict.word == "hurt"
        assert "validation loss 0.792 -> 0.834 at its best" in verdict.text

    def test_a_better_best_helps(self) -> None:
        assert self.verdict(validated(0.8, 1.9, 0.7), validated(0.6, 0.7, 0.7)).word == "helped"

    def test_the_metric_of_the_task_outweighs_the_loss_at_its_best(self) -> None:
        verdict = self.verdict(validated(0.792, 1.9, 0.70), validated(0.834, 0.9, 0.85))
        assert verdict.word == "helped"

    def test_best_last_and_metric_before_and_after(self) -> None:
        scores = before_after(sketch(validated(0.8, 1.9, 0.7)), sketch(validated(0.6, 0.7, 0.8)))
        assert [one.by.name for one in scores.changes] == ["loss", "val/loss", "val/accuracy"]
        loss, accuracy = scores.of("val/loss"), scores.of("val/accuracy")
        assert loss is not None
        assert accuracy is not None
        assert loss.best == (pytest.approx(0.8), pytest.approx(0.6))
        assert loss.last == (pytest.approx(1.9, abs=0.05), pytest.approx(0.7, abs=0.05))
        assert accuracy.best_gain == pytest.approx(0.1, abs=0.02)
        lines = [one.line for one in scores.criteria]
        assert any("at least 10 % lower: met" in line for line in lines)
        assert any("gap of validation to training smaller: met" in line for line in lines)

    def test_success_needs_the_best_too(self) -> None:
        scores = before_after(sketch(validated(0.792, 1.9, 0.7)), sketch(validated(0.834, 0.9, 0.7)))
        assert scores.criteria[0].met is False


def trial(remedy: str, change: str, end: float) -> Trial:
    by = Yardstick("loss")
    runs = [sketch({"loss": [value] * 50}) for value in (1.0, end)]
    levels = [read_level(run, by) for run in runs]
    assert levels[0] is not None
    assert levels[1] is not None
    candidate = Candidate(remedy, "lr_too_low", 0.5, (Change.parse(change),))
    return Trial(candidate, 50, (), judge(by, [Pair(0, levels[0], levels[1])]))


class TestStopping:
    def test_after_several_remedies_in_vain_it_says_when_to_stop(self) -> None:
        diagnosis = Diagnosis(sketch({"loss": [1.0, 1.0]}), "problem", (), ())
        trials = (
            trial("raise_lr", "scale_lr factor=10", 1.0),
            trial("swap_activation", "swap_activation to=gelu", 1.3),
        )
        first, *rest = when_to_stop([Round(diagnosis, (), 50, trials)], diagnosis)
        assert "2 remedies were tried and none helped" in first
        assert "scale_lr factor=10 (no difference" in first
        assert {line.partition(":")[0].partition(" (")[0] for line in rest} == {
            "Data quality",
            "Formulation",
            "Architecture",
        }

    def test_the_likeliest_category_is_questioned_first(self) -> None:
        hypothesis = Hypothesis("label_noise", "Label noise", 0.6, (), (), ())
        problem = Problem("plateau", (), "high", None, "", (), (hypothesis,), 0.4)
        diagnosis = Diagnosis(sketch({"loss": [1.0, 1.0]}), "problem", (problem,), ())
        trials = (
            trial("raise_lr", "scale_lr factor=10", 1.0),
            trial("swap_activation", "swap_activation to=gelu", 1.3),
        )
        lines = when_to_stop([Round(diagnosis, (), 50, trials)], diagnosis)
        assert lines[1].startswith("Data quality (60% of the diagnosis)")

    def test_not_while_something_helps_or_hardly_anything_was_tried(self) -> None:
        diagnosis = Diagnosis(sketch({"loss": [1.0, 1.0]}), "problem", (), ())
        helped = (
            trial("raise_lr", "scale_lr factor=10", 0.2),
            trial("swap_activation", "swap_activation to=gelu", 1.3),
        )
        assert not when_to_stop([Round(diagnosis, (), 50, helped)], diagnosis)
        assert not when_to_stop([Round(diagnosis, (), 50, helped[1:])], diagnosis)
