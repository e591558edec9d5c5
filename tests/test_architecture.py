"""The architecture of a recorded training, in `inspect`, in reports and in JSON."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.diagnoses import healthy
from traindx.core.nouns import Reading, Run
from traindx.report.architecture import architecture_sentence, architectures
from traindx.report.diagnosis import html_document, markdown
from traindx.report.diagnosis_json import diagnosis_dict
from traindx.report.layout import Screen
from traindx.report.runs import render
from traindx.testing.sketch import run

MODEL = {
    "class": "Tower",
    "parameters": 25569,
    "trainable": 20000,
    "layers": 26,
    "normalisation": {"BatchNorm1d": 2},
    "dropout": [0.1, 0.3],
    "activations": {"ReLU": 25, "Sigmoid": 1},
}
LOADERS = [{"role": "training", "samples": 2400}, {"role": "validation", "samples": 90000}]


def recorded(model: object = MODEL, loaders: object = LOADERS) -> Run:
    facts = {"models": model if isinstance(model, list) else [model], "loaders": loaders}
    return replace(run({"loss": [3.0, 2.0, 1.0]}), formats=("recording",), facts=facts)


def test_every_fact_is_shown() -> None:
    (model,) = architectures(recorded())
    assert architecture_sentence(model) == (
        "Tower: 25,569 parameters, 20,000 trainable; 26 layers with weights; normalisation: BatchNorm1d (2); "
        "dropout: 0.1, 0.3; activations: ReLU (25), Sigmoid; "
        "parameters per training sample: 10.7 (2,400 training samples)"
    )


def test_it_is_in_every_form() -> None:
    diagnosis = replace(healthy(), run=recorded())
    page = markdown([diagnosis])
    assert "## Architecture" in page
    assert "| activations | ReLU (25), Sigmoid |" in page
    assert "| parameters per training sample | 10.7 (2,400 training samples) |" in page
    assert "Architecture" in html_document([diagnosis])
    (model,) = diagnosis_dict(diagnosis)["models"]
    assert model["depth"] == 26
    assert model["parameters_per_sample"] == pytest.approx(25569 / 2400)
    shown = " ".join(" ".join(render(Reading([recorded()], []), everything=False, screen=Screen())).split())
    assert "26 layers with weights; normalisation: BatchNorm1d (2); dropout: 0.1, 0.3" in shown


def test_several_models_stand_next_to_each_other() -> None:
    small = {"class": "Critic", "parameters": 10, "activations": {}}
    assert [one.name for one in architectures(recorded([small, MODEL]))] == ["Tower", "Critic"]
    page = markdown([replace(healthy(), run=recorded([small, MODEL]))])
    assert "| model | Tower | Critic |" in page
    assert "| activations | ReLU (25), Sigmoid | none that is a layer of its own |" in page


def test_a_log_says_what_its_settings_say() -> None:
    log = replace(run({"loss": [3.0, 2.0]}), settings={"model_parameters": 1_000_000, "train_samples": 500})
    (model,) = architectures(log)
    assert (model.parameters, model.per_sample, model.activations) == (1_000_000, 2000.0, None)
    assert not architectures(run({"loss": [3.0, 2.0]}))


@pytest.mark.parametrize(
    "model",
    [None, 7, [], {"parameters": "many"}, {"parameters": float("nan")}, {"parameters": -1}, {"class": 3}],
)
def test_what_is_no_model_is_none(model: object) -> None:
    assert architectures(recorded([model], {"role": 3})) == []


def test_odd_facts_are_left_out() -> None:
    odd = {"parameters": 5, "dropout": {"a": 1}, "activations": ["ReLU"], "normalisation": {"x": "y"}}
    (model,) = architectures(recorded(odd, None))
    assert architecture_sentence(model) == "model: 5 parameters; normalisation: none"
