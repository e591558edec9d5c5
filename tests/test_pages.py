"""Every page of knowledge parses, keeps its headings, and names only what exists."""

from __future__ import annotations

import re
import time
from pathlib import Path
from string import Formatter

import pytest

import traindx
from traindx.core.names import SETTINGS
from traindx.core.units import detectors
from traindx.knowledge import catalogue
from traindx.knowledge.catalogue import PRIORS, causes, causes_of, remedies, sheets, symptoms
from traindx.knowledge.pages import Page, bullets, first_paragraph, parse, table, words
from traindx.knowledge.weights import Weight

PACKAGE = Path(traindx.__file__).parent / "knowledge"

# The public contract: these ids appear in JSON output. They may be joined by others, never renamed.
SYMPTOMS = """
nonfinite divergence not_learning exploding_gradients vanishing_gradients dead_units saturated_units
oscillation loss_spike plateau slow_convergence underfitting overfitting double_descent silent_defect
slow_training memory_growth crash
""".split()
CAUSES = {
    "optimisation": """lr_too_high lr_too_low lr_schedule no_warmup momentum_misset weight_decay_too_high
        batch_too_small batch_too_large unclipped_gradients optimizer_unsuited clipping_too_tight""",
    "model": """bad_init saturating_activation dying_relu missing_skip_or_norm missing_nonlinearity
        capacity_too_low capacity_too_high over_regularised under_regularised output_mismatch
        collapsed_outputs""",
    "loss": """wrong_loss double_activation missing_activation unstable_math low_precision amp_misuse
        shape_broadcast""",
    "data": """unnormalised_inputs corrupt_batch class_imbalance label_noise misaligned_labels
        unshuffled_data too_little_data train_val_mismatch data_leakage constant_inputs empty_targets""",
    "code": """missing_zero_grad untrained_parameters wrong_mode accumulation_bug state_not_restored
        measurement_bug""",
    "throughput": "input_bound small_batch_overhead memory_bound sync_bound straggler_rank",
    "distributed": "rank_desync",
    "benign": "converged",
}
REMEDIES = """
lower_lr raise_lr add_warmup change_schedule fix_schedule_pace clip_gradients loosen_clipping raise_batch
lower_batch lower_weight_decay set_momentum switch_optimizer reinitialise swap_activation revive_units
add_normalisation add_nonlinearity enlarge_model shrink_model weaken_regularisation add_regularisation
stop_early train_past_peak
fix_output_layer prevent_collapse fix_loss pass_logits add_activation guard_math leave_fp16
fix_scaler_order match_shapes normalise_inputs drop_bad_batches rebalance_classes clean_labels align_labels
shuffle_data get_more_data match_validation split_anew fix_pipeline check_targets zero_gradients
train_all_parameters set_modes fix_accumulation restore_state fix_logging feed_faster fill_the_device
free_memory move_sync_out balance_ranks sync_ranks keep_checkpoint reduce_on_plateau restart_lr add_scaler
decouple_decay align_shapes match_dtypes move_to_device cut_the_graph avoid_in_place check_indices
join_collectives mask_future shift_targets update_target
""".split()
SHEETS = """
learning_rate_schedules optimisers gradient_management gradient_pathologies loss_functions loss_curves
overfitting data_augmentation batch_size_and_memory numerical_precision initialisation_and_normalisation
double_descent debugging_hygiene
""".split()
# What a run may know about itself: the only words a remedy may leave open.
PLACEHOLDERS = set(
    """
    lr_zero lr_never steps_done lr lr_lower
    lr_tenth lr_higher lr_rose_at lr_first lr_last optimizer batch batch_higher batch_lower accumulation
    clip clip_new grad_norm grad_peak weight_decay weight_decay_lower dropout dropout_lower precision
    momentum beta1 beta2 eps warmup warmup_new total_steps onset best_step best_value last_value first_value
    cycle_steps
    val_best val_best_step val_last classes chance steps_per_epoch epochs wait_share step_s slow_factor
    workers parameters train_samples spikes spike_step loss_scale skipped_share memory_growth
    memory_share creep_factor metric term peak second_best hardly_moved_to
    uncleared_optimizer softmax softmax_axis class_axis
    """.split()
)
HEADINGS = {
    "cause": [
        "What it is", "Why it happens", "Evidence", "Confirm", "Fix", "Do not", "Verify", "References",
    ],
    "symptom": ["What it looks like", "Not to be confused with", "Check first", "Do not"],
    "remedy": ["Do", "Expect", "Risk", "Do not"],
}  # fmt: skip


def pages() -> list[Page]:
    found = [*causes().values(), *symptoms().values(), *remedies().values(), *sheets().values()]
    return [entry.page for entry in found]


every_page = pytest.mark.parametrize("page", pages(), ids=lambda page: f"{page.kind}-{page.id}")
every_cause = pytest.mark.parametrize("cause", causes().values(), ids=lambda cause: cause.id)
every_remedy = pytest.mark.parametrize("remedy", remedies().values(), ids=lambda remedy: remedy.id)


def test_every_id_of_the_contract_has_its_page() -> None:
    categories = {cause.id: cause.category for cause in causes().values()}
    published = {id: category for category, line in CAUSES.items() for id in line.split()}
    assert len(published) == 53
    assert published.items() <= categories.items()
    new = [causes()[id] for id in categories.keys() - published.keys()]
    assert all(cause.kind_of in published for cause in new), "a new cause names the nearest published one"
    assert list(symptoms()) == SYMPTOMS
    assert [symptom.rank for symptom in symptoms().values()] == list(range(1, 19))
    assert set(remedies()) == set(REMEDIES)
    assert set(sheets()) == set(SHEETS)


@every_page
def test_headings(page: Page) -> None:
    headings = list(page.sections)
    if page.kind == "sheet":
        assert headings[-2:] == ["Do not", "Verify"]
        assert len(headings) >= 6
        assert "| --- |" in page.body, "a sheet holds tables of numbers"
    else:
        assert headings == HEADINGS[page.kind]
    for heading, text in page.sections.items():
        assert text, heading
    assert bullets(page.sections["Do not"])


@every_page
def test_only_known_pages_are_named(page: Page) -> None:
    assert set(words(page.head.get("sheets", ""))) <= set(SHEETS)
    assert set(words(page.head.get("remedies", ""))) <= set(REMEDIES)


@every_page
def test_the_text_is_plain(page: Page) -> None:
    for line in page.body.split("\n"):
        assert line.startswith("|") or len(line) <= 110, line
    assert page.body.count("```") % 2 == 0
    assert not re.search(r"\b(TODO|FIXME|XXX)\b", page.body)
    commands = re.findall(r"traindx ([a-z][a-z-]+)", page.body)
    assert set(commands) <= {"diagnose", "inspect", "explain", "list"}, "only commands that exist"


@every_cause
def test_causes_are_whole(cause: catalogue.Cause) -> None:
    assert set(cause.symptoms) <= set(SYMPTOMS)
    assert cause.symptoms, "a cause that is the root of nothing"
    assert set(cause.symptoms.values()) <= set(PRIORS)
    assert cause.remedies
    assert cause.evidence
    assert 40 <= len(cause.confirm) <= 600, "the cheapest experiment, in one or two sentences"
    assert len(cause.avoid) >= 2
    for bullet in cause.avoid:
        assert bullet.endswith("."), bullet


@every_cause
def test_evidence_names_detectors_that_exist(cause: catalogue.Cause) -> None:
    """Checked against the detectors themselves, `traindx.core.units.detectors()`."""
    assert set(cause.evidence) - {unit.id for unit in detectors()} == set()


@every_cause
def test_evidence_is_measured(cause: catalogue.Cause) -> None:
    for finding, weight in cause.evidence.items():
        assert weight.seen or weight.unseen, f"{finding} says nothing"
        assert abs(weight.seen) <= 8, finding
        assert abs(weight.unseen) <= 5, finding
        assert weight.seen * weight.unseen <= 0, f"{finding}: seen and not seen speak for the same"
        assert weight.why, finding


def test_every_symptom_has_causes_and_every_remedy_serves_one() -> None:
    for symptom in SYMPTOMS:
        assert causes_of(symptom), symptom
        ranks = [PRIORS.index(cause.symptoms[symptom]) for cause in causes_of(symptom)]
        assert ranks == sorted(ranks)
    used = {remedy for cause in causes().values() for remedy in cause.remedies}
    assert set(remedies()) - used == set()


@every_remedy
def test_templates_leave_open_only_what_a_run_may_know(remedy: catalogue.Remedy) -> None:
    for template in [*remedy.do, *remedy.set.values()]:
        asked = {name for _, name, _, _ in Formatter().parse(template) if name is not None}
        assert asked <= PLACEHOLDERS, template
    assert "{" not in remedy.do[-1], "the last line must serve any run"
    for line in remedy.do[:-1]:
        assert "{" in line, f"never reached past it: {line}"
    assert set(remedy.set) <= set(SETTINGS)
    assert remedy.risk in ("low", "medium", "high")
    assert remedy.expect


def test_all_pages_load_quickly() -> None:
    """Measured 10 ms on an idle core; the limit leaves room for a busy machine."""
    spans = []
    for _ in range(5):
        for load in (causes, symptoms, remedies, sheets):
            load.cache_clear()
        start = time.process_time()
        pages()
        spans.append(time.process_time() - start)
    assert min(spans) < 0.05


# ---------------------------------------------------------------- the parser


def test_a_page_is_read() -> None:
    page = parse("# A title\nkey: a: b\n\n## One\ntext\n\nmore\n## Two\n- x\n", id="it", kind="cause")
    assert (page.id, page.kind, page.title) == ("it", "cause", "A title")
    assert page.head == {"key": "a: b"}
    assert page.sections == {"One": "text\n\nmore", "Two": "- x"}
    assert page.body == "## One\n\ntext\n\nmore\n\n## Two\n\n- x"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "the first line"),
        ("## One\ntext", "the first line"),
        ("# \n", "the first line"),
        ("# T\nno colon\n", "expected 'key: value'"),
        ("# T\na b: c\n", "expected 'key: value'"),
        ("# T\nk: 1\nk: 2\n", "'k' occurs twice"),
        ("# T\n\n## A\nx\n## A\ny\n", "'A' occurs twice"),
    ],
)
def test_a_malformed_page_says_what_is_wrong(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"the cause page it: .*{complaint}"):
        parse(text, id="it", kind="cause")


def test_bullets_go_on_over_lines() -> None:
    text = "Intro.\n- one\n  goes on\n- two\n\nA paragraph.\n* three\n"
    assert bullets(text) == ["one goes on", "two", "three"]


def test_tables() -> None:
    text = "Intro.\n\n| a | b |\n| --- | --- |\n| 1 | x \\| y |\n| 2 | |\n\n| other |\n| --- |\n| z |\n"
    assert table(text) == [["1", "x | y"], ["2", ""]]
    assert table("no table") == []


def test_the_first_paragraph_is_one_line() -> None:
    assert first_paragraph("\nOne\ntwo.\n\nThree.") == "One two."


CAUSE = """# T
meaning: M.
category: data
symptoms: plateau often
remedies: fix_loss

## Evidence
| finding | seen | not seen | why |
| --- | --- | --- | --- |
| loss_flat | 1 | -0.5 | because |
| plateau | | -1 | so |
## Confirm
Try it.
## Do not
- Not this.
"""


def test_evidence_is_data() -> None:
    cause = catalogue._cause(parse(CAUSE, id="it", kind="cause"))
    assert cause.evidence["loss_flat"] == Weight(1.0, -0.5, "because")
    assert cause.evidence["plateau"] == Weight(0.0, -1.0, "so")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("meaning: M.\n", "", "'meaning: ...' is missing"),
        ("plateau often", "plateau always", "symptoms must read"),
        ("plateau often", "plateau often, plateau rarely", "symptoms must read"),
        ("| 1 | -0.5 |", "| much | -0.5 |", "bits of 'loss_flat' must be numbers"),
        ("| loss_flat | 1 ", "| loss_flat ", "needs 4 cells"),
        ("| plateau |", "| loss_flat |", "'loss_flat' occurs twice"),
        ("## Confirm\nTry it.\n", "", "'## Confirm' is missing"),
    ],
)
def test_a_malformed_cause_says_what_is_wrong(old: str, new: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"the cause page it: .*{re.escape(complaint)}"):
        catalogue._cause(parse(CAUSE.replace(old, new), id="it", kind="cause"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("# T\nrisk: low\nset: lr\n\n## Do\n- x\n## Expect\ny", "set must read"),
        ("# T\nrisk: low\n\n## Do\nno bullet\n## Expect\ny", "must hold a bullet"),
        ("# T\n\n## Do\n- x\n## Expect\ny", "'risk: ...' is missing"),
    ],
)
def test_a_malformed_remedy_says_what_is_wrong(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        catalogue._remedy(parse(text, id="it", kind="remedy"))


def test_a_malformed_symptom_says_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="rank must be a whole number"):
        catalogue._symptom(parse("# T\nrank: first\nmeaning: M.\n", id="it", kind="symptom"))


def test_pages_are_in_the_package() -> None:
    for folder in catalogue.FOLDERS.values():
        assert {path.suffix for path in (PACKAGE / folder).iterdir()} == {".md"}
