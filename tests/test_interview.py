"""The interview: answers become evidence, the most telling question comes next, going back is possible."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.phrases import outcomes
from traindx.core.units import detectors
from traindx.evidence.case import Case
from traindx.interview.answers import NotUnderstood, expected, understood
from traindx.interview.complaint import menu, not_understood, understand
from traindx.interview.next_question import LEAST, MOST, choices, differentials
from traindx.interview.pasted import curves_in
from traindx.interview.plans import plans, reply, understood_plans
from traindx.interview.session import Interview
from traindx.interview.stated_settings import stated_settings
from traindx.interview.typed_numbers import numbers_in
from traindx.knowledge.catalogue import causes, symptoms
from traindx.knowledge.questions import questions
from traindx.testing.sketch import decay, noisy, run


def interview(*told: str, base: Case | None = None) -> Interview:
    made = Interview(base)
    made.set_symptoms(told)
    return made


def first(made: Interview) -> tuple[str, float]:
    hypothesis = made.diagnosis().problems[0].hypotheses[0]
    return hypothesis.cause, hypothesis.confidence


def test_every_symptom_can_be_told() -> None:
    findings = {unit.id for unit in detectors()}
    for symptom in symptoms().values():
        assert symptom.finding in findings | {""}, symptom.id
        made = interview(symptom.id)
        assert made.diagnosis().problems[0].symptom == symptom.id
        assert symptom.id in understand(symptom.statement).symptoms, symptom.id
    assert [symptom.menu for symptom in menu()] == list(range(1, len(menu()) + 1))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("my loss is NaN after 100 steps", ["nonfinite"]),
        ("validation loss goes up while training goes down", ["overfitting"]),
        ("the loss doesn't decrease", ["not_learning"]),
        ("loss is not nan but oscillating a lot", ["oscillation"]),
        ("GPU is idle most of the time", ["slow_training"]),
        ("it crashes with CUDA out of memory", ["memory_growth"]),
        ("accuracy is stuck at 10%", ["not_learning"]),
        ("Loss stopped improving. And the memory grows", ["plateau", "memory_growth"]),
        ("gradient norm is huge", ["exploding_gradients"]),
        ("no nan, no spikes, nothing", []),
        ("banana", []),
    ],
)
def test_words_are_matched_to_symptoms(text: str, meant: list[str]) -> None:
    assert sorted(understand(text).symptoms) == sorted(meant)


def test_complaints_in_words_are_understood() -> None:
    found = outcomes("development")
    assert not found["refused"]
    assert not found["wrong"]
    for name, wrong in (("unseen", 1), ("later", 2), ("forums", 1)):
        found = outcomes(name)
        assert len(found["wrong"]) <= wrong
        assert len(found["refused"]) <= 3


@pytest.mark.parametrize(
    ("text", "observed", "nearest"),
    [
        ("my validation loss is 0.3", "validation loss 0.3", "overfitting"),
        ("gradient norm 1.2", "gradient 1.2", "exploding_gradients"),
        ("activations look fine", "unit good", "dead_units"),
    ],
)
def test_what_is_not_understood_is_answered_with_what_was(text: str, observed: str, nearest: str) -> None:
    meant = understand(text)
    assert not meant.symptoms
    assert meant.observed == (observed,)
    assert nearest in meant.nearest
    assert observed in not_understood(meant)
    assert nearest in not_understood(meant)


def test_numbers_and_ids_are_taken_as_they_are() -> None:
    assert understand("1, 7").symptoms == ("not_learning", "nonfinite")
    assert understand("plateau nonfinite").symptoms == ("plateau", "nonfinite")
    assert not understand("7").guessed
    assert understand("99").left == "99"


@pytest.mark.parametrize(
    ("text", "wanted", "told"),
    [
        ("AdamW lr=3e-4 batch=64", "config", {"optimizer": "adamw", "lr": 3e-4, "batch_size": 64}),
        ("sgd 0.1, momentum 0.9, no warm-up", "config", {"optimizer": "sgd", "momentum": 0.9, "warmup": 0}),
        ("Adam with a learning rate of 0.5", "config", {"optimizer": "adam", "lr": 0.5}),
        ("11M parameters, 50k images", "sizes", {"model_parameters": 11_000_000, "train_samples": 50_000}),
        ("353 480", "sizes", {"model_parameters": 353, "train_samples": 480}),
        ("dropout 50%", "regularisation", {"dropout": 0.5}),
        ("none", "clipping", {"clip": 0}),
    ],
)
def test_settings_are_read_from_words(text: str, wanted: str, told: dict[str, object]) -> None:
    found = stated_settings(text, questions()[wanted].settings)
    assert {name: found.get(name) for name in told} == told


def test_pasted_values_are_numbers_rows_or_log_lines() -> None:
    bare = curves_in("2.3, 2.2 nan 1.9", ("loss",))
    assert bare is not None
    assert len(bare.series["loss"]) == 4
    assert math.isnan(bare.series["loss"].values[2])
    pairs = curves_in("2.3 2.4\n2.2 2.5\n2.1 2.6", ("loss", "val/loss"))
    assert pairs is not None
    assert pairs.series["val/loss"].values.tolist() == [2.4, 2.5, 2.6]
    lines = "".join(f"epoch {i} loss {1 / (i + 1):.3f} val_loss {0.5 + i / 10}\n" for i in range(6))
    log = curves_in(lines, ("loss",))
    assert log is not None
    assert {"loss", "val/loss"} <= set(log.series)
    assert curves_in("it falls nicely", ("loss",)) is None


def test_an_answer_is_evidence_like_any_other() -> None:
    made = interview("not_learning")
    made.answer("config", "Adam lr=1e-9")
    cause, confidence = first(made)
    assert cause == "lr_too_low"
    assert confidence > 0.7
    said = made.diagnosis().problems[0].hypotheses[0].evidence
    assert any(item.finding == "config_lr_low" and "1e-9" in item.text for item in said)
    assert "answers" in made.diagnosis().evidence


def test_an_option_weighs_on_its_cause_and_once() -> None:
    made = interview("divergence")
    before = {r.cause.id: r.confidence for r in differentials(made.weighed)[0].ranked}
    made.answer("loop", "no_zero_grad")
    assert first(made)[0] == "missing_zero_grad"
    items = made.diagnosis().problems[0].hypotheses[0].evidence
    assert sum(item.finding == "script_zero_grad_missing" for item in items) == 1
    after = {r.cause.id: r.confidence for r in differentials(made.weighed)[0].ranked}
    assert after["lr_too_high"] < before["lr_too_high"]


def test_pasted_losses_are_judged_by_the_detectors() -> None:
    made = interview("not_learning")
    made.answer("losses", " ".join(f"{2.303 + 0.003 * math.sin(5 * i):.4f}" for i in range(30)))
    ids = {finding.id for finding in made.weighed.examination.findings}
    assert "loss_at_chance" in ids
    assert "run_too_short" not in ids


def test_the_next_question_is_the_most_telling_and_not_asked_twice() -> None:
    made = interview("nonfinite")
    seen: set[str] = set()
    while made.next is not None:
        found = choices(made.weighed, made.answers)
        assert made.next.worth == max(choice.worth for choice in found) >= LEAST
        assert made.next.question.id not in seen
        seen.add(made.next.question.id)
        made.answer(made.next.question.id, "?")
    assert 3 <= len(seen) <= MOST


def test_dont_know_moves_nothing() -> None:
    made = interview("plateau")
    before = made.diagnosis().problems[0].hypotheses
    made.answer("config", "don't know")
    assert [h.confidence for h in made.diagnosis().problems[0].hypotheses] == [h.confidence for h in before]


def test_going_back_restores_what_was() -> None:
    made = interview("nonfinite")
    before = first(made)
    asked = made.next
    made.answer("config", "sgd lr=100")
    assert first(made) != before
    taken = made.back()
    assert taken is not None
    assert taken.text == "sgd lr=100"
    assert first(made) == before
    assert asked is not None
    assert made.next is not None
    assert made.next.question.id == asked.question.id
    assert made.back() is None


def test_it_stops_when_one_cause_stands_out() -> None:
    made = interview("slow_training")
    made.answer("data_time", "0.09 of 0.1")
    made.answer("ranks", "one")
    assert first(made)[0] == "input_bound"
    assert made.next is None


def test_only_what_a_log_lacks_is_asked() -> None:
    base = Case(
        run({"loss": noisy(decay(200, 4, 1), 0.02), "lr": [1e-3] * 200}, settings={"optimizer": "adam"})
    )
    made = interview("plateau", base=base)
    asked = {choice.question.id for choice in choices(made.weighed, made.answers)}
    assert asked
    assert not asked & {"losses", "config"}


def test_what_was_measured_stands_above_what_was_told() -> None:
    base = Case(run({"loss": noisy(decay(200, 4, 0.1), 0.02)}, settings={"lr": 1e-3, "optimizer": "adam"}))
    made = interview("nonfinite", base=base)
    made.answer("config", "adam lr=10")
    said = " ".join(made.weighed.contradictions)
    assert "the run itself says 0.001" in said
    assert "say otherwise" in said
    assert made.weighed.case.number("lr") == 1e-3


def test_answers_that_speak_against_each_other_are_said() -> None:
    made = interview("not_learning", "overfitting")
    made.answer("loop", "right")
    made.answer("parameters", "some")
    said = " ".join(made.weighed.contradictions)
    assert "both cannot be" in said
    assert "one speaks for untrained parameters" in said


def test_a_told_symptom_that_the_values_deny_is_no_alarm() -> None:
    made = interview("overfitting", "not_learning")
    made.answer("validation", "2.3 2.4\n2 2.2\n1.5 2.1\n1.1 2.2\n0.8 2.3\n0.5 2.5\n0.3 2.8\n0.2 3")
    problems = made.diagnosis().problems
    assert problems[0].symptom == "overfitting"
    assert next(p for p in problems if p.symptom == "not_learning").severity == "low"
    assert any("fell from 2.3" in text for text in made.weighed.contradictions)


def test_options_that_exclude_each_other_are_a_sentence() -> None:
    with pytest.raises(NotUnderstood, match="cannot be"):
        understood(questions()["loop"], "1 2")
    with pytest.raises(NotUnderstood, match="only one"):
        understood(questions()["shuffled"], "1 2")
    with pytest.raises(NotUnderstood, match="beyond the end"):
        understood(questions()["progress"], "500 of 100")


def test_a_plan_is_answered_with_what_to_observe() -> None:
    made = interview("not_learning")
    made.answer("config", "Adam lr=1e-9")
    diagnosis = made.diagnosis()
    optimizer, epochs, rate = (plans()[name] for name in ("other_optimizer", "more_epochs", "random_lr"))
    assert reply(optimizer, diagnosis).fits is None
    assert "not the optimizer" in reply(optimizer, diagnosis).text
    assert "last fifth" in reply(epochs, diagnosis).text
    fitting = reply(rate, diagnosis).fits
    assert fitting is not None
    assert fitting.cause == "lr_too_low"
    assert understood_plans("I'll try other optimizers") == [optimizer]
    assert understood_plans("more epochs") == [epochs]
    assert understood_plans("tune the lr at random") == [rate]
    for plan in plans().values():
        assert set(plan.cures) <= set(causes())


anything = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="0123456789 .,-eE+nainfkMB%:/of\n=", max_size=60),
    st.floats(),
    st.integers(),
    st.booleans(),
    st.none(),
    st.lists(st.one_of(st.floats(), st.text(max_size=8)), max_size=5),
    st.dictionaries(st.text(max_size=8), st.one_of(st.floats(), st.text(max_size=8)), max_size=3),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(questions())), anything)
def test_any_answer_is_understood_or_refused_with_a_sentence(name: str, raw: object) -> None:
    question = questions()[name]
    try:
        answer = understood(question, raw)
    except NotUnderstood as error:
        refused = str(error)
    else:
        refused = "understood."
        assert set(answer.options) <= set(question.options)
    assert refused.endswith((".", expected(question)))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(sorted(symptoms())), max_size=3),
    st.dictionaries(st.sampled_from(sorted(questions())), anything, max_size=4),
)
def test_any_interview_ends_in_a_diagnosis(told: list[str], answers: dict[str, object]) -> None:
    made = interview(*told)
    for name, raw in answers.items():
        try:
            made.answer(name, raw)
        except NotUnderstood:
            continue
    made.next  # noqa: B018
    for problem in made.diagnosis().problems:
        total = problem.rest + sum(h.confidence for h in problem.hypotheses)
        assert total == pytest.approx(1.0, abs=0.02)


@given(st.text(max_size=200))
def test_any_words_are_matched_without_a_fault(text: str) -> None:
    assert set(understand(text).symptoms) <= set(symptoms())
    numbers_in(text)
    understood_plans(text)
