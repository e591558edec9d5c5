"""Inference: what is counted, what is not, and that the numbers add up."""

from __future__ import annotations

import math
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traindx.core.nouns import Finding
from traindx.core.units import detectors
from traindx.knowledge.catalogue import Cause, causes, symptoms
from traindx.knowledge.infer import MOST, PRIOR_BITS, Observations, rank, shares_of
from traindx.knowledge.pages import Page
from traindx.knowledge.problems import group_findings
from traindx.knowledge.questions import KINDS, KNOWN, next_questions, questions
from traindx.knowledge.weights import Weight


def cause(name: str, prior: str = "sometimes", **evidence: tuple[float, float]) -> Cause:
    page = Page(name, "cause", name, MappingProxyType({}), MappingProxyType({}))
    weights = {finding: Weight(seen, unseen, "") for finding, (seen, unseen) in evidence.items()}
    return Cause(name, name, "", "data", {"divergence": prior}, (), (), weights, "", (), (), page)


def finding(name: str, family: str, strength: float = 1.0, symptom: str | None = None) -> Finding:
    return Finding(f"{name} 1.", symptom, id=name, family=family, strength=strength)


def seen(*findings: Finding, unseen: dict[str, str] | None = None) -> Observations:
    return Observations(findings, unseen or {}, {})


def confidence(ranked: list[object], name: str) -> float:
    return next(r.confidence for r in ranked if r.cause.id == name)  # type: ignore[attr-defined]


def test_without_evidence_the_prior_ranks() -> None:
    ranked, rest = rank(["divergence"], seen(), [cause("a", "rarely"), cause("b", "often"), cause("c")])
    assert [r.cause.id for r in ranked] == ["b", "c", "a"]
    assert rest + sum(r.confidence for r in ranked) == pytest.approx(1.0)


def test_bits_are_log_odds_between_two_causes() -> None:
    pages = [cause("a", x=(2.0, 0.0)), cause("b", x=(-0.5, 0.0))]
    ranked, _ = rank(["divergence"], seen(finding("x", "f")), pages)
    assert math.log2(confidence(ranked, "a") / confidence(ranked, "b")) == pytest.approx(2.5)


def test_what_points_at_one_cause_explains_a_rival_away() -> None:
    """By half of what it weighs more than the rival's own evidence; a rival with as much keeps all of it."""
    weak, strong = cause("weak", y=(1.0, 0.0)), cause("strong", y=(4.0, 0.0))
    found = seen(finding("x", "f"), finding("y", "g"))
    ranked, _ = rank(["divergence"], found, [cause("a", x=(3.0, 0.0)), weak, strong])
    against = {r.cause.id: [(item.finding, item.bits) for item in r.against] for r in ranked}
    assert against == {"a": [("y", -0.5)], "weak": [("x", -1.0)], "strong": []}


def test_a_finding_that_points_at_no_candidate_explains_nothing() -> None:
    ranked, _ = rank(["divergence"], seen(finding("x", "f")), [cause("a", x=(0.5, 0.0)), cause("b")])
    assert [item for r in ranked for item in r.against] == []


def test_findings_of_one_family_count_once() -> None:
    both = cause("a", x=(2.0, 0.0), y=(1.5, 0.0))
    one, _ = rank(["divergence"], seen(finding("x", "f")), [both, cause("b")])
    two, _ = rank(["divergence"], seen(finding("x", "f"), finding("y", "f")), [both, cause("b")])
    apart, _ = rank(["divergence"], seen(finding("x", "f"), finding("y", "g")), [both, cause("b")])
    assert confidence(one, "a") == confidence(two, "a") < confidence(apart, "a")


@pytest.mark.parametrize(("bits", "outweighed"), [(7.0, False), (3.0, True)])
def test_what_was_not_found_never_outweighs_a_proof(bits: float, outweighed: bool) -> None:
    pages = [cause("a", x=(bits, 0.0), y=(2.0, -4.5)), cause("b")]
    ranked, _ = rank(["divergence"], seen(finding("x", "f"), unseen={"y": "g"}), pages)
    of_a = next(r for r in ranked if r.cause.id == "a")
    assert [item.finding for item in of_a.against] == (["y"] if outweighed else [])
    assert (of_a.confidence < 0.5) is outweighed


def test_checked_not_found_is_evidence_and_not_checked_is_none() -> None:
    pages = [cause("a", x=(2.0, -1.5)), cause("b")]
    checked, _ = rank(["divergence"], seen(unseen={"x": "f"}), pages)
    blind, _ = rank(["divergence"], seen(), pages)
    assert math.log2(confidence(checked, "a") / confidence(checked, "b")) == pytest.approx(-1.5)
    assert confidence(blind, "a") == confidence(blind, "b")
    assert checked[-1].against[0].bits == -1.5


def test_a_faint_finding_weighs_less() -> None:
    pages = [cause("a", x=(3.0, 0.0)), cause("b", x=(-1.0, 0.0))]
    ranked, _ = rank(["divergence"], seen(finding("x", "f", 0.5)), pages)
    assert math.log2(confidence(ranked, "a") / confidence(ranked, "b")) == pytest.approx(2.0)


@given(st.lists(st.floats(-40, 40), max_size=60))
def test_shares_sum_to_one_and_none_is_certain(scores: list[float]) -> None:
    shares, rest = shares_of(scores)
    assert sum(shares) + rest == pytest.approx(1.0)
    assert all(0 <= share <= MOST for share in shares)
    assert rest >= 0


def test_two_unrelated_groups_are_two_problems() -> None:
    ranks = {symptom.id: symptom.rank for symptom in symptoms().values()}
    found = [
        finding("validation_parts", "gap", symptom="overfitting"),
        finding("data_wait", "wait", symptom="slow_training"),
        finding("lr_constant", "lr"),
    ]
    groups = group_findings(found, ranks, (0.0, 100.0))
    assert [c.symptoms for c in groups] == [("overfitting",), ("slow_training",)]


def test_stuck_after_a_blow_up_is_one_problem_and_before_it_is_two() -> None:
    ranks = {symptom.id: symptom.rank for symptom in symptoms().values()}

    def at(name: str, symptom: str, step: float) -> Finding:
        return Finding(f"{name} 1.", symptom, "high", step, id=name, family=name)

    after = [at("loss_diverges", "divergence", 40), at("loss_frozen", "plateau", 60)]
    before = [at("loss_diverges", "divergence", 80), at("plateau", "plateau", 30)]
    assert [c.symptoms for c in group_findings(after, ranks, (0, 100))] == [("divergence", "plateau")]
    assert len(group_findings(before, ranks, (0, 100))) == 2


def test_every_question_names_what_is_there_and_sums_up() -> None:
    findings = {unit.id for unit in detectors()}
    for question in questions().values():
        options = question.options.values()
        assert question.kind in KINDS, question.id
        assert question.effort in KNOWN, question.id
        assert question.symptoms <= set(symptoms()), question.id
        assert question.kind == "words" or sum(o.often for o in options) == pytest.approx(1.0), question.id
        assert sum(option.fine for option in options) <= 1, question.id
        for option in options:
            assert set(option.bits) <= set(causes()), (question.id, option.id)
            assert {*option.sees, *option.rules_out, *option.shown_by} <= findings, (question.id, option.id)


def test_the_question_that_splits_the_leading_causes_comes_first() -> None:
    shares = {"lr_too_high": 0.45, "corrupt_batch": 0.4}
    asked = next_questions(shares, 0.15, causes(), {}, {}, ["divergence"])
    telling = {
        q.short
        for q in questions().values()
        if q.id in ("lr_tenth", "same_step", "fp32_run", "batch_by_eye")  # a bad batch, or the learning rate
    }
    assert asked[0] in telling
    certain = next_questions({"lr_too_high": 0.995}, 0.005, causes(), {}, {}, ["divergence"])
    assert certain == ()


def test_an_informative_field_is_asked_for() -> None:
    shares = {"lr_too_high": 0.4, "unclipped_gradients": 0.4}
    wanted = next_questions(
        shares,
        0.2,
        causes(),
        {"spikes_with_gradients": "grad_norm"},
        {"grad_norm": "Log it."},
        ["divergence"],
        30,
    )
    assert "Log it." in wanted


def test_priors_are_words_of_the_pages() -> None:
    words = {word for page in causes().values() for word in page.symptoms.values()}
    assert words == set(PRIOR_BITS)


def test_every_symptom_has_causes() -> None:
    for symptom in symptoms():
        able = [c for c in causes().values() if symptom in c.symptoms]
        assert len(able) >= 2, symptom
