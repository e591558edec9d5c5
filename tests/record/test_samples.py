"""Samples known again: in validation, with another label; what simple predictors tell of the targets."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.warm import record
from traindx.evidence.case import Case
from traindx.observe.data.batch_rows import prints, rows_of
from traindx.observe.data.relations import relation
from traindx.observe.torch.sample_prints import SampleFingerprints
from traindx.testing import sketch


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)


def validation_of(samples: SampleFingerprints) -> dict[str, float]:
    found = samples.facts()["validation"]
    assert isinstance(found, dict)
    return found


def relation_of(samples: SampleFingerprints) -> dict[str, float]:
    found = samples.facts()["relation"]
    assert isinstance(found, dict)
    return found


def trained(x: torch.Tensor, y: torch.Tensor) -> SampleFingerprints:
    samples = SampleFingerprints()
    for at in range(0, len(x), 50):
        samples.trained(x[at : at + 50], y[at : at + 50])
    return samples


def test_equal_rows_have_equal_prints() -> None:
    x = torch.randn(40, 30)
    rows = rows_of(torch.cat([x[:20], x[:20]]))
    assert rows is not None
    found = prints(rows)
    assert (found[:20] == found[20:]).all()
    assert len(set(found.tolist())) == 20


@pytest.mark.parametrize("offset", [-1, 0, 1, 2])
@pytest.mark.parametrize("flat", [False, True])
def test_the_place_of_the_target_in_a_sequence(offset: int, flat: bool) -> None:
    tokens = torch.randint(1, 50, (64, 24))
    wanted = torch.full_like(tokens, -100)
    for at in range(24):
        if 0 <= at + offset < 24:
            wanted[:, at] = tokens[:, at + offset]
    samples = SampleFingerprints()
    for at in range(0, 64, 16):
        target = wanted[at : at + 16]
        samples.trained(tokens[at : at + 16], target.reshape(-1) if flat else target)
    shares = samples.sequence_facts()["token_offsets"]
    assert isinstance(shares, dict)
    assert shares[str(offset)] == 1.0
    assert max(share for place, share in shares.items() if place != str(offset)) < 0.1


@pytest.mark.parametrize("ahead", [0, 1])
def test_one_token_of_each_row_at_a_time(ahead: int) -> None:
    """A recurrent network in a loop over places."""
    tokens = torch.randint(1, 50, (300, 2))
    samples = SampleFingerprints()
    samples.trained(tokens[:, 0], tokens[:, ahead])
    shares = samples.sequence_facts()["token_offsets"]
    assert isinstance(shares, dict)
    assert shares.keys() == {"0"}
    assert (shares["0"] == 1.0) is (ahead == 0)


def test_targets_that_are_no_tokens_have_no_place() -> None:
    samples = SampleFingerprints()
    samples.trained(torch.randint(1, 50, (64, 24)), torch.randint(0, 3, (64,)))
    samples.trained(torch.randn(64, 24), torch.randint(1, 50, (64, 24)))
    assert samples.sequence_facts() == {}


def test_rows_of_few_values_are_told_from_rows_of_their_own() -> None:
    few, own = torch.randint(0, 3, (200, 12)) / 7.0, torch.randn(200, 12)
    levels = [trained(x, torch.zeros(200, dtype=torch.long)).facts()["levels"] for x in (few, own)]
    assert levels == pytest.approx([3 / (50 * 12), 1.0], abs=2e-3)


def test_validation_that_was_trained_on_is_known() -> None:
    x, y = torch.randn(500, 12), torch.randint(0, 3, (500,))
    samples = trained(x, y)
    samples.evaluated(x[:60])
    told = validation_of(samples)
    assert told["known"] == told["taken"] == 60


def test_other_validation_is_not() -> None:
    samples = trained(torch.randn(500, 12), torch.randint(0, 3, (500,)))
    samples.evaluated(torch.randn(60, 12))
    assert validation_of(samples)["known"] == 0


def test_who_judges_on_both_is_told_by_the_unknown_ones() -> None:
    x, y = torch.randn(500, 12), torch.randint(0, 3, (500,))
    samples = trained(x, y)
    for at in range(0, 500, 50):
        samples.loaded((x[at : at + 50], y[at : at + 50]), 1, training=False)
    for _ in range(4):
        samples.loaded((torch.randn(50, 12), torch.randint(0, 3, (50,))), 2, training=False)
    assert validation_of(samples)["known"] == 0


def test_long_judging_on_the_training_data_does_not_hide_the_validation() -> None:
    x, y = torch.randn(1600, 12), torch.randint(0, 3, (1600,))
    samples = trained(x, y)
    for at in range(0, 1600, 40):
        samples.evaluated(x[at : at + 40])
    samples.evaluated(torch.randn(60, 12))
    assert validation_of(samples)["known"] == 0


def test_labels_that_change_are_counted() -> None:
    x, y = torch.randn(200, 12), torch.randint(0, 5, (200,))
    samples = SampleFingerprints()
    samples.trained(x[:50], y[:50])
    samples.trained(x[:50], (y[:50] + 1) % 5)
    samples.trained(x[50:100], y[50:100])
    samples.trained(x[50:100], y[50:100])
    told = samples.facts()
    assert told["came_again"] == 100
    assert told["relabelled"] == 50


@pytest.mark.parametrize(("factor", "offset"), [(255.0, 0.0), (1.0, 3.0), (1.0, 0.0)])
def test_inputs_on_another_scale(factor: float, offset: float) -> None:
    samples = trained(torch.randn(500, 12), torch.randint(0, 3, (500,)))
    samples.evaluated(factor * torch.randn(200, 12) + offset)
    told = validation_of(samples)
    assert told["spread_ratio"] == pytest.approx(factor, rel=0.3)
    assert told["shift"] == pytest.approx(offset, abs=0.4) or factor > 1


def test_one_outlier_does_not_hide_the_spread() -> None:
    x = torch.randn(500, 12)
    x[300] *= 1e6
    samples = trained(x, torch.randint(0, 3, (500,)))
    samples.evaluated(torch.randn(200, 12))
    assert 0.3 < validation_of(samples)["spread_ratio"] < 3
    peak = samples.facts()["input_peak"]
    assert isinstance(peak, dict)
    assert peak["largest"] > 1e4 * peak["usual"]


def test_inputs_that_tell_the_class() -> None:
    centres = 2 * torch.randn(4, 10)
    y = torch.randint(0, 4, (600,))
    x = centres[y] + torch.randn(600, 10)
    clear = relation_of(trained(x, y))
    assert clear["told"] > 0.9
    assert clear["z"] > 10
    lost = relation_of(trained(x, y[torch.randperm(600)]))
    assert lost["z"] < 3
    noisy = y.clone()
    wrong = torch.rand(600) < 0.3
    noisy[wrong] = torch.randint(0, 4, (int(wrong.sum()),))
    told = relation_of(trained(x, noisy))
    assert 0.1 < told["odd_share"] < 0.4
    assert told["together"] < 1.3
    assert told["mutual"] > 0.85


def test_neighbours_that_tell_little_do_not_tell_each_other() -> None:
    phase, kind = 6.28 * torch.rand(800, 1), torch.randint(0, 4, (800,))
    waves = torch.sin(6.28 * (2 + 1.5 * kind[:, None]) * torch.arange(64) / 64 + phase)
    told = relation_of(trained(waves + 2 * torch.randn(800, 64), kind))
    assert 0.3 < told["odd_share"] < 0.5
    assert told["mutual"] < 0.5


def test_classes_that_overlap_are_odd_at_their_border() -> None:
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, 800)
    x = draw.normal(size=(800, 2)) + 2.0 * y[:, None] * np.array([1.0, 0.0])
    told = relation(x, y.astype(float), classes=True)
    assert told["odd_share"] > 0.1
    assert told["together"] > 1.4


@pytest.mark.parametrize("classes", [True, False])
def test_a_feature_that_holds_the_answer(classes: bool) -> None:
    draw = np.random.default_rng(0)
    x = draw.normal(size=(600, 6))
    wanted = x[:, 0] - x[:, 1] + draw.normal(0, 0.8, 600)
    wanted = (wanted > 0).astype(float) if classes else wanted
    honest = relation(x, wanted, classes=classes)
    x[:, 4] = 2 * wanted + draw.normal(0, 0.02, 600)
    told = relation(x, wanted, classes=classes)
    assert told["alone"] > 0.98
    assert told["feature"] == 4
    assert told["without"] < 0.9
    assert honest["alone"] < 0.85


def test_numbers_that_inputs_tell() -> None:
    x = torch.randn(400, 6)
    assert relation_of(trained(x, x @ torch.randn(6) + 0.1 * torch.randn(400)))["told"] > 0.8
    assert relation_of(trained(x, torch.randn(400)))["z"] < 3


def test_products_and_rare_classes_are_linked() -> None:
    draw = np.random.default_rng(0)
    x = draw.normal(size=(500, 20))
    for wanted in (x[:, 0] * x[:, 1] > 0, x[:, 0] + x[:, 1] > 2.6):
        assert relation(x, wanted.astype(float), classes=True)["linked"] > 4
        shuffled = draw.permutation(wanted).astype(float)
        assert abs(relation(x, shuffled, classes=True)["linked"]) < 3


def test_what_the_inputs_are_is_told() -> None:
    y = torch.randint(0, 3, (500,))
    assert trained(torch.randint(0, 50, (500, 12)), y).facts()["input"] == {
        "dtype": "int64",
        "elements": 12,
        "whole": True,
    }
    samples = SampleFingerprints()
    for _ in range(8):
        samples.loaded((torch.randn(50, 200), torch.randn(50, 3), y[:50]), 1, training=True)
    assert samples.facts()["input"] == {"dtype": "float32", "elements": 200, "whole": False, "beside": 1}


@pytest.mark.parametrize("form", ["dict", "tuple"])
def test_a_sample_is_the_same_only_with_all_its_inputs(form: str) -> None:
    pictures = torch.randn(50, 12)
    samples = SampleFingerprints()
    questions, answers = torch.randint(0, 900, (6, 50, 4)), torch.randint(0, 5, (6, 50))
    for question, answer in zip(questions, answers, strict=True):
        parts = {"picture": pictures, "question": question, "answer_label": answer}
        samples.loaded(parts if form == "dict" else tuple(parts.values()), 1, training=True)
    assert samples.facts()["came_again"] == samples.facts()["relabelled"] == 0
    samples.loaded((pictures, questions[0], (answers[0] + 1) % 5), 1, training=True)
    assert samples.facts()["relabelled"] == 50
    parts = {"picture": pictures, "question": questions[0] + 1, "answer_label": answers[0]}
    samples.loaded(parts, 2, training=False)
    assert validation_of(samples)["known"] == 0


def test_odd_batches_are_let_be() -> None:
    samples = SampleFingerprints()
    samples.loaded("nothing", 1, training=True)
    samples.loaded((torch.randn(5), torch.randn(5)), 1, training=True)
    samples.trained(torch.randint(0, 50, (4, 16)), torch.randint(0, 50, (4, 16)))
    samples.trained(torch.zeros(0, 4), None)
    assert samples.facts()["taken"] == 4


def test_numbers_of_samples_in_a_batch_are_no_labels() -> None:
    samples, x = SampleFingerprints(), torch.randn(400, 12)
    for _ in range(3):
        order = torch.randperm(400)
        for at in range(0, 400, 100):
            samples.trained(x[order[at : at + 100]], torch.arange(100))
    told = samples.facts()
    assert told["came_again"]
    assert "relabelled" not in told
    assert "relation" not in told


@pytest.mark.parametrize("grad_off", ["loop", "model", "model, without eval()"])
def test_validation_data_are_not_trained_on_wherever_gradients_are_switched_off(
    tmp_path: Path, grad_off: str
) -> None:
    """Many loops switch gradients off for the model alone, after the batch was fetched."""
    script = f"""
import contextlib, torch
torch.manual_seed(0)
x = torch.randn(600, 12)
y = (x[:, :3].sum(1) > 0).long()
sets = [torch.utils.data.TensorDataset(x[part], y[part]) for part in (slice(0, 400), slice(400, 600))]
train, val = (torch.utils.data.DataLoader(one, batch_size=20, shuffle=True) for one in sets)
model = torch.nn.Sequential(torch.nn.Linear(12, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    model.train()
    for a, b in train:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(a), b).backward()
        optimizer.step()
    if {grad_off != "model, without eval()"}:
        model.eval()
    loop, one = (torch.no_grad(), contextlib.nullcontext()) if {grad_off == "loop"} else \\
        (contextlib.nullcontext(), torch.no_grad())
    total = 0.0
    with loop:
        for a, b in val:
            with one:
                total += torch.nn.functional.cross_entropy(model(a), b).item()
    print(f"epoch {{epoch}} val_loss {{total / len(val):.4f}}")
"""
    (tmp_path / "train.py").write_text(script, encoding="utf-8")
    record(tmp_path, "rec", "train.py")
    facts = json.loads((tmp_path / "rec" / "run.json").read_text(encoding="utf-8"))["samples"]
    assert facts["validation"]["taken"] >= 100
    assert facts["validation"]["known"] == 0
    assert facts["distinct"] >= 150


def test_a_target_that_stands_in_the_input_is_found_behind_a_written_loss() -> None:
    """Such a target is known to five digits of the largest one only (`written_losses`)."""
    samples = SampleFingerprints()
    for _ in range(4):
        windows = torch.randn(64, 48, 1)
        samples.trained(windows, torch.round(windows[:, -1, 0], decimals=4))
    assert samples.facts()["target_in_input"] == {"batches": 4, "places": [47]}


@pytest.mark.parametrize("size", [120, 700])
def test_how_many_samples_there_are_is_estimated_from_those_that_came_again(size: int) -> None:
    x, y = torch.randn(size, 12), torch.randint(0, 3, (size,))
    samples = SampleFingerprints()
    for _ in range(12):
        rows = torch.randint(0, size, (40,))
        samples.trained(x[rows], y[rows])
    run = replace(sketch.run({"loss": [1.0, 0.5]}), facts={"samples": samples.facts()})
    assert Case(run).train_samples == pytest.approx(size, rel=0.25)


def test_several_targets_a_sample_are_held_against_simple_models() -> None:
    x = torch.randn(400, 8)
    y = x[:, :3] + 0.5 * torch.randn(400, 3)
    measured = relation_of(trained(x, y))
    assert measured["targets"] == 3
    assert measured["told"] == pytest.approx(0.8, abs=0.06)
    assert measured["z"] > 10


def test_a_target_that_is_the_input_is_no_task() -> None:
    x = torch.randn(400, 8)
    assert "relation" not in trained(x, x.clone()).facts()


def test_level_next_to_simple_models_with_several_targets() -> None:
    relation_facts = {"told": 0.8, "z": 40.0, "classes": 0.0, "targets": 3.0}
    facts = {
        "losses": [{"kind": "mse", "reduction": "mean", "output_shape": "64x3", "target_shape": "64x3"}],
        "samples": {"taken": 400, "relation": relation_facts},
    }
    case = Case(replace(sketch.run({"loss": [1.0, 0.5], "output/explained": [0.1, 0.2, 0.3]}), facts=facts))
    assert case.level.against_simple is not None
    assert case.level.against_simple.reached == pytest.approx(0.25)
    assert not case.level.against_simple.as_good


def test_validation_images_of_other_sizes_are_compared_by_all_their_values() -> None:
    samples = trained(2.0 * torch.rand(500, 1, 8, 8) - 1.0, torch.randint(0, 3, (500,)))
    for side in (9, 11, 13, 15) * 3:
        samples.evaluated(torch.rand(1, 1, side, side))
    found = validation_of(samples)
    assert found["together"] == 1.0
    assert found["rows"] == 12
    assert found["spread_ratio"] == pytest.approx(0.5, rel=0.1)
    assert found["shift"] == pytest.approx(0.5 / 0.577, rel=0.15)


def test_too_few_images_of_other_sizes_are_not_compared() -> None:
    samples = trained(torch.rand(500, 1, 8, 8), torch.randint(0, 3, (500,)))
    samples.evaluated(torch.rand(4, 1, 9, 9))
    assert "shift" not in validation_of(samples)


PARTS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.GRU(5, 8, batch_first=True), nn.Linear(8, 1)

    def loss(self, x, y):
        return nn.functional.mse_loss(self.out(self.rnn(x)[0][:, -1]), y)

torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
make = lambda n: torch.utils.data.TensorDataset(torch.randn(n, 6, 5), torch.randn(n, 1))
train = torch.utils.data.DataLoader(make(400), batch_size=40, shuffle=True)
held_out = torch.utils.data.DataLoader(make(160), batch_size=40)
for epoch in range(4):
    net.train()
    for x, y in train:
        optimizer.zero_grad()
        net.loss(x, y).backward()
        optimizer.step()
    net.eval()
    for x, y in held_out:
        with torch.no_grad():
            print(float(net.loss({inputs}, y)))
"""


@pytest.mark.parametrize(("inputs", "spread"), [("x", 1.0), ("0.2 * x", 0.2)])
def test_validation_of_a_model_whose_layers_are_called_one_by_one(
    inputs: str, spread: float, tmp_path: Path
) -> None:
    """Neither a call of the whole model nor a loader without gradients shows what is validation."""
    (tmp_path / "train.py").write_text(PARTS.replace("{inputs}", inputs), encoding="utf-8")
    record(tmp_path, "rec", "train.py")
    facts = json.loads((tmp_path / "rec" / "run.json").read_text(encoding="utf-8"))
    held_out = facts["samples"]["validation"]
    assert held_out["spread_ratio"] == pytest.approx(spread, rel=0.15)
