"""A diagnosis as it is shown: terminal, Markdown, JSON, and the table of many."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.diagnoses import EVIL, EVIL_MARKDOWN, broken, curve, evil, healthy, run_of, short_run
from traindx.core.nouns import Diagnosis, Evidence
from traindx.evidence.phase import worst_first
from traindx.knowledge.catalogue import symptoms
from traindx.report.coverage_words import need
from traindx.report.diagnosis import markdown, render_diagnosis
from traindx.report.diagnosis_json import diagnosis_dict, diagnosis_document
from traindx.report.layout import Screen, cells
from traindx.report.text import MARK, percent, visible
from traindx.report.to_markdown import code, escaped
from traindx.report.triage import short_names, triage
from traindx.report.wording import (
    ABSENT,
    SYMPTOMS_WORDED,
    category,
    evidence_for,
    further_signs,
    verdict_sentences,
)

SCHEMA = json.loads(
    (Path(__file__).parent / "contract" / "diagnosis.schema.json").read_text(encoding="utf-8")
)
CASES = {
    "broken": broken,
    "healthy": healthy,
    "short": short_run,
    "evil": evil,
    "evil markdown": lambda: evil(EVIL_MARKDOWN),
}
WIDTHS = [60, 61, 72, 80, 99, 100, 120, 140]


def shown(diagnosis: Diagnosis, *, everything: bool = False, **more: Any) -> str:
    return "\n".join(render_diagnosis(diagnosis, everything=everything, screen=Screen(**more)))


def without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def low_only() -> Diagnosis:
    """A run that is healthy though something small was seen."""
    return replace(healthy(), problems=broken().problems[2:])


# ---------------------------------------------------------------- JSON


@pytest.mark.parametrize("name", CASES)
def test_json_is_the_contract(name: str) -> None:
    document = diagnosis_document([CASES[name]()])
    told = json.loads(document, parse_constant=lambda token: pytest.fail(f"bare {token}"))
    jsonschema.Draft202012Validator(SCHEMA).validate(told)


def test_json_holds_the_diagnosis() -> None:
    told = diagnosis_dict(broken())
    assert told["verdict"] == "problem"
    assert told["source"]["steps"] == 1500
    assert told["source"]["evidence"] == ["log", "config"]
    worst = told["problems"][0]
    assert (worst["symptom"], worst["severity"], worst["onset_step"]) == ("nonfinite", "critical", 1090)
    assert worst["findings"][0]["numbers"] == {"first_nan": 1090, "worst": "Infinity"}
    first = worst["hypotheses"][0]
    assert (first["cause"], first["confidence"], first["reference"]) == ("lr_too_high", 0.82, "lr_too_high")
    assert first["evidence"][0] == {
        "finding": "rise_follows_lr",
        "text": broken().problems[0].hypotheses[0].evidence[0].text,
        "bits": 2.5,
        "step": 440,
        "series": "lr",
    }
    assert first["fix"]["config"] == {"lr": 0.04}
    assert [fix["remedy"] for fix in first["fix"]["then"]] == ["clip_gradients", "add_warmup"]
    total = sum(hypothesis["confidence"] for hypothesis in worst["hypotheses"]) + worst["rest"]
    assert total == pytest.approx(1.0)
    skipped = [check for check in told["coverage"] if check["status"] == "skipped"]
    assert len(skipped) == 17
    assert all(check["needs"] for check in skipped)


def test_several_runs_are_one_document() -> None:
    document = json.loads(diagnosis_document([broken(), healthy()]))
    assert document["schema"] == "traindx/diagnoses/1"
    assert [run["verdict"] for run in document["runs"]] == ["problem", "healthy"]
    for run in document["runs"]:
        jsonschema.Draft202012Validator(SCHEMA).validate(run)
    assert json.loads(diagnosis_document([]))["runs"] == []


def test_fractions_of_an_epoch_are_rounded_and_kept() -> None:
    problem = replace(broken().problems[0], onset_step=2.6)
    told = diagnosis_dict(replace(broken(), problems=(problem,)))["problems"][0]
    assert (told["onset_step"], told["onset"]) == (3, 2.6)


# ---------------------------------------------------------------- terminal


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("unicode", [False, True])
@pytest.mark.parametrize("name", [*CASES, "low"])
def test_no_line_is_wider_than_the_screen(name: str, unicode: bool, everything: bool) -> None:
    diagnosis = low_only() if name == "low" else CASES[name]()
    for width in WIDTHS:
        for line in shown(diagnosis, everything=everything, width=width, unicode=unicode).splitlines():
            assert cells(line) <= width, line


@pytest.mark.parametrize("name", CASES)
def test_colour_changes_nothing_but_the_colour(name: str) -> None:
    plain = shown(CASES[name](), everything=True)
    assert without_colour(shown(CASES[name](), everything=True, colour=True)) == plain
    assert "\x1b" not in plain
    assert all(char.isprintable() or char == "\n" for char in plain)


@pytest.mark.parametrize("name", ["broken", "healthy", "short"])
def test_ascii_is_enough(name: str) -> None:
    assert shown(CASES[name](), everything=True, unicode=False).isascii()


def test_the_verdict_comes_first() -> None:
    first, second = shown(broken()).splitlines()[:2]
    assert first == "PROBLEM     went to NaN or Inf at step 1,090: learning rate too high (82 %)"
    assert "waiting for data (44 %) or synchronisation in the loop" in second


def test_the_answer_fits_on_a_screen() -> None:
    text = shown(broken())
    assert len(text.splitlines()) <= 24
    for part in (
        "cause     Learning rate too high (82 %)",
        "evidence  - The loss turned up at step 440",
        "first     Lower lr from 0.4 to 0.04",
        "set       lr = 0.04",
        "avoid     Do not only clip",
        "next      traindx explain lr_too_high",
    ):
        assert part in text
    assert text.count("\n            - ") == 2  # three pieces of evidence, one beside the label
    assert "Gradients not clipped" not in text


def test_all_is_told_on_request() -> None:
    text = shown(broken(), everything=True)
    for part in (
        "Confidence: 82 %",
        "+2.5    440  rise_follows_lr    The loss turned up at step 440",
        "-0.5         loss_spikes",
        "1. Lower lr from 0.4 to 0.04",
        "settings  lr = 0.04",
        "2. Clip gradients at norm 2.1",
        "- Do not only clip",
        "Run 600 steps",
        "or        11 %  ██▎",
        "Gradients not clipped (unclipped_gradients)",
        "- Does the loss rise",
        "traindx explain lr_too_high",
        "- overfits",
        "41 of 58 checks ran, 17 not checked",
        "Unstable maths",
        "grad_check_7",
    ):
        assert part in text


def test_a_cause_that_is_only_common_is_never_the_headline() -> None:
    base = broken()
    problem = base.problems[0]
    common = tuple(replace(cause, evidence=()) for cause in problem.hypotheses)
    diagnosis = replace(base, problems=(replace(problem, hypotheses=common),))
    assert verdict_sentences(diagnosis) == ["went to NaN or Inf at step 1,090: cause open"]
    text = shown(diagnosis)
    assert "cause     open: no finding speaks for one of its causes" in text
    assert "decide    Does the loss rise at the same step" in text
    assert "  first " not in text
    assert "cause open" in "\n".join(triage([diagnosis, healthy()], Screen()))
    assert "The cause is open" in markdown([diagnosis])


def test_the_onset_is_marked_under_the_curve() -> None:
    lines = shown(broken()).splitlines()
    loss = next(line for line in lines if line.startswith("  loss "))
    mark = next(line for line in lines if "▲ step 1,090" in line)
    assert mark.index("▲ step") == loss.index(MARK)
    lines = shown(broken(), unicode=False).splitlines()
    assert any("^ step 1,090" in line for line in lines)


def test_health_says_why_and_what_was_not_seen() -> None:
    text = shown(healthy())
    assert text.startswith("HEALTHY     41 of 58 checks ran and found nothing to act on\n")
    assert "The loss fell from 4.3 to 0.41" in text
    assert "17 not checked because 7 need the gradient norm, logged (grad_norm)" in " ".join(text.split())
    assert low_only().problems[0].summary in " ".join(shown(low_only()).split())
    assert "overfits" not in shown(low_only())


def test_thin_evidence_is_not_health() -> None:
    text = shown(short_run())
    assert text.startswith("NO VERDICT  too little evidence: only 0 of 58 checks ran\n")
    assert "3 points are too few" in text
    assert "HEALTHY" not in text


def test_what_is_evidence_is_not_noticed_again() -> None:
    base = broken()
    first = base.problems[0].hypotheses[0].evidence[1]
    signs = (*base.signs, replace(base.signs[0], text=first.text))
    for text in (shown(replace(base, signs=signs)), markdown([replace(base, signs=signs)])):
        assert text.count(first.text) == 1


def test_no_cause_is_put_forward_on_thin_evidence() -> None:
    base = broken()
    problem = base.problems[0]
    causes = tuple(replace(cause, confidence=0.2) for cause in problem.hypotheses)
    (told,) = verdict_sentences(replace(base, problems=(replace(problem, hypotheses=causes),)))
    assert told.endswith(
        "cause unclear, perhaps learning rate too high (20 %) or gradients not clipped (20 %)"
    )


def test_validation_stands_under_training() -> None:
    base = broken()
    seen = replace(base.problems[0].findings[0], series="val/loss")
    problem = replace(base.problems[0], findings=(seen,), hypotheses=())
    lines = shown(replace(base, problems=(problem,))).splitlines()
    names = [line.split()[0] for line in lines if "▁▁" in line]
    assert names == ["loss", "val/loss"]


def test_curves_of_another_axis_name_their_steps() -> None:
    base = broken()
    first = base.problems[0].hypotheses[0]
    seen = Evidence("validation_parts", "Validation parts.", 1.0, 3.0, "val/loss")
    problem = replace(base.problems[0], hypotheses=(replace(first, evidence=(seen,)),))
    run = run_of(curve("loss", range(50)), curve("val/loss", range(5), axis="epoch"))
    text = shown(replace(base, run=run, problems=(problem,)), everything=True)
    assert "+1.0  epoch 3  validation_parts  Validation parts." in text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "<1 %"),
        (0.004, "<1 %"),
        (0.82, "82 %"),
        (0.996, ">99 %"),
        (1.0, ">99 %"),
        (float("nan"), "<1 %"),
    ],
)
def test_certainty_is_never_claimed(share: float, text: str) -> None:
    assert percent(share) == text


def test_needs_in_words() -> None:
    assert need("lr|setting:lr") == "lr or lr in the configuration"
    assert need("at least 10 points.") == "at least 10 points"
    assert need(None)


def test_every_symptom_has_its_words() -> None:
    assert set(symptoms()) <= SYMPTOMS_WORDED


def test_an_unknown_symptom_and_no_cause_are_told_all_the_same() -> None:
    problem = replace(broken().problems[0], symptom="new_thing", hypotheses=(), onset_step=0.0)
    diagnosis = replace(broken(), problems=(problem,))
    assert verdict_sentences(diagnosis) == ["new thing from the start: no known cause fits"]
    assert "something traindx does not know" in shown(diagnosis, everything=True)
    assert "No known cause fits." in markdown([diagnosis])


# ---------------------------------------------------------------- many runs


def several() -> list[Diagnosis]:
    base = broken()
    return [
        healthy(),
        low_only(),
        short_run(),
        replace(base, problems=base.problems[1:]),
        base,
        replace(base, problems=(replace(base.problems[0], severity="high"),)),
    ]


def test_the_worst_comes_first() -> None:
    lines = triage(several(), Screen())
    assert lines[0] == "6 runs: 1 critical, 1 high, 1 medium, 1 without a verdict, 2 healthy"
    words = [line.split()[0] for line in lines[3:]]
    assert words == ["critical", "high", "medium", "no", "healthy", "healthy"]
    assert re.search(r"critical +diverged.log +\S.* \+2 +Learning rate too high +82 % +1,090 +618", lines[3])
    assert "(overfitting)" in "\n".join(lines)


@pytest.mark.parametrize("unicode", [False, True])
def test_the_table_fits(unicode: bool) -> None:
    for width in WIDTHS:
        screen = Screen(width, unicode=unicode)
        lines = triage([*several(), evil(), evil(EVIL_MARKDOWN)], screen)
        assert max(map(cells, lines)) <= width
        coloured = triage([*several(), evil()], replace(screen, colour=True))
        assert [without_colour(line).rstrip() for line in coloured] == triage([*several(), evil()], screen)


def test_of_many_healthy_runs_some_are_shown() -> None:
    runs = [*several(), *[healthy() for _ in range(60)]]
    lines = triage(runs, Screen())
    assert "  and 52 more that are healthy; --all shows them" in lines
    assert sum(line.startswith("  healthy") for line in lines) == 10
    assert sum(line.startswith("  healthy") for line in triage(runs, Screen(), everything=True)) == 62
    assert worst_first(runs)[0].problems[0].severity == "critical"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["runs/a/metrics.csv", "runs/b/metrics.csv"], ["a", "b"]),
        (["runs/a/x.csv", "runs/a/y.csv"], ["x.csv", "y.csv"]),
        (["x.csv", "runs/x.csv"], ["x.csv", "runs/x.csv"]),
        (["/x/a.log", "/x/a.log (part 2)"], ["a.log", "a.log (part 2)"]),
        (["same", "same"], ["same", "same"]),
        (["one/run"], ["one/run"]),
        (
            ["runs/big_1_of_all_states.json", "runs/big_2_of_all_states.json"],
            ["…1_of_all_sta…", "…2_of_all_sta…"],
        ),
        (["1_of_all_state.json", "2_of_all_state.json"], ["1_of_all_stat…", "2_of_all_stat…"]),
        ([], []),
    ],
)
def test_names_tell_runs_apart(names: list[str], told: list[str]) -> None:
    assert short_names(names, 14) == told


# ---------------------------------------------------------------- Markdown

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HARMLESS = {"text", "code_inline", "strong_open", "strong_close", "softbreak"}


def inline(text: str) -> Iterator[Token]:
    for token in PARSER.parse(text):
        assert token.type not in ("html_block", "fence", "code_block", "hr", "blockquote_open"), token
        yield from token.children or ()


@pytest.mark.parametrize("text", [EVIL, EVIL_MARKDOWN, "a\\\\|<img src=x>", "`|<img src=x>`", "| a | b |"])
def test_markdown_shows_what_a_log_holds_as_text(text: str) -> None:
    page = markdown([evil(text), healthy()])
    tokens = list(inline(page))
    assert {token.type for token in tokens} <= HARMLESS
    bold = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "strong_open"]
    assert "bold" not in bold
    assert all(char.isprintable() or char == "\n" for char in page)
    page.encode()


@given(st.text() | st.text("`*_[]()<>!|~$&#;:/@.\\- +=ab1\n", min_size=1))
def test_escaped_text_reads_as_it_was(text: str) -> None:
    shown = "".join(token.content for token in inline(escaped(text)))
    assert shown.replace("`", "").split() == visible(text).replace("`", "").split()


@given(st.text("`<a|\\ ", min_size=1))
def test_code_reads_as_it_was(text: str) -> None:
    tokens = list(inline("x " + code(text)))
    shown = "".join(token.content for token in tokens)[1:]
    assert shown.split() == (text.split() or ["(no", "name)"])


@given(st.text("`<a|\\ *_", min_size=1))
def test_a_cell_stays_one_cell(text: str) -> None:
    page = f"| a | b |\n| --- | --- |\n| {escaped(text)} | {code(text)} |\n"
    tokens = PARSER.parse(page)
    assert sum(token.type == "td_open" for token in tokens) == 2
    assert not any(child.type == "html_inline" for token in tokens for child in token.children or ())


def test_markdown_has_its_headings() -> None:
    page = markdown([broken()])
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    wanted = ["Primary symptom", "Diagnostic findings", "Root cause", "Recommended fix", "Alternatives"]
    wanted += ["What not to do", "How to confirm it", "What to ask next", "Reference sheets"]
    assert headings[0] == "Diagnosis of `diverged.log`"
    assert headings[3 : 3 + len(wanted)] == wanted
    assert headings[-3:] == ["Other things noticed", "Architecture", "Coverage"]
    assert "1. Lower lr from 0.4 to 0.04" in page
    assert "2. Clip gradients" in page
    assert "| +2.5 | 440 | `rise_follows_lr` |" in page
    assert "- Category: Explosion" in page
    assert "- Kind of cause: optimisation" in page
    assert "| Gradients not clipped (`unclipped_gradients`) | 11 % |" in page


def test_markdown_of_several_runs() -> None:
    page = markdown(several())
    assert page.startswith("# Diagnosis of 6 runs\n\n6 runs: 1 critical")
    assert page.index("| critical |") < page.index("| healthy |")
    assert page.count("\n## ") == 6
    assert "### Why it can be believed" in page
    assert "### What to log" in page


def test_the_causes_are_ranked_with_evidence_and_fix() -> None:
    page = markdown([broken()])
    first, second, *_ = broken().problems[0].hypotheses
    ranked = [
        f"- Most likely cause (82 % confidence): NaN or Inf: {first.title}",
        "- Evidence: ",
        "- Fix: Lower lr from 0.4 to 0.04",
        f"- Alternative hypothesis ({percent(second.confidence)} confidence): {second.title}",
        "- Also consider: ",
    ]
    places = [page.index(line) for line in ranked]
    assert places == sorted(places)


def test_issues_final_losses_and_epochs() -> None:
    losses = {"loss": [2.0, 1.5, 1.25], "val/loss": [2.1, 1.9, 1.75]}
    log = run_of(*(curve(name, values, "epoch") for name, values in losses.items()), axis="epoch")
    page = markdown([replace(broken(), run=log)])
    for row in ("final training loss | 1.25", "final validation loss | 1.75", "epochs completed | 3"):
        assert f"| {row} |" in page
    assert "| NaN or Inf | critical | Learning rate too high (82 %) | Lower lr from 0.4 to 0.04" in page
    document = diagnosis_dict(replace(broken(), run=log))
    assert document["final"] == {"train_loss": 1.25, "val_loss": 1.75, "epochs": 3}
    assert document["problems"][0]["category"] == "Explosion"


def test_every_symptom_has_its_category() -> None:
    names = {name: category(name) for name in symptoms()}
    others = {"Not Learning", "Plateau", "Instability", "Explosion", "Overfitting", "Performance"}
    assert {name for name in names if names[name] not in others} == {"silent_defect", "crash"}
    assert set(names.values()) >= others


def test_the_strongest_evidence_comes_first() -> None:
    base = broken()
    problem = base.problems[0]
    weak = Evidence("lr_constant", "The learning rate never decays.", 0.4)
    absent = Evidence("data_wait", f"{ABSENT}Waiting for data.", 3.5)
    strong = Evidence("nan_after_growth", "The loss rose with the learning rate.", 3.0)
    first = replace(problem.hypotheses[0], evidence=(weak, absent, strong))
    assert evidence_for(first, problem) == [strong, weak, absent]


def test_routine_notes_come_last() -> None:
    base = healthy()
    routine = replace(base.signs[0], id="lr_constant", text="The learning rate never decays.", strength=1.0)
    telling = replace(base.signs[0], id="nan_after_growth", text="It rose with lr.", strength=1.0)
    shown = further_signs(replace(base, signs=(routine, telling)))
    assert [sign.text for sign in shown] == [telling.text, routine.text]
