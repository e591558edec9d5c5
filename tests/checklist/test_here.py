"""`traindx.preflight` on a model, a loss and a loader."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

import traindx


def data() -> tuple[torch.Tensor, torch.Tensor]:
    drawn = torch.Generator().manual_seed(1)
    x = torch.randn(320, 6, generator=drawn)
    return x, (x[:, 0] + x[:, 1] > 0).long()


def test_a_sound_training_passes_and_stays_as_it_was() -> None:
    x, y = data()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    streams = torch.get_rng_state(), random.getstate()
    told = traindx.preflight(model, functional.cross_entropy, loader, optimizer=optimizer, steps=80)
    assert told, str(told)
    expected = "loss_at_chance one_batch inputs_matter labels_matter items_independent deterministic".split()
    assert {name: told[name].status for name in expected} == dict.fromkeys(expected, "pass")
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert torch.equal(streams[0], torch.get_rng_state())
    assert streams[1] == random.getstate()
    assert not optimizer.state
    assert told.to_dict()["passed"] is True


class Blind(nn.Module):
    """Forgets its input, and mixes the samples of a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(6, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.line(x * 0.0)
        return out


def test_a_blind_model_fails_and_a_list_of_batches_will_do() -> None:
    x, y = data()
    batches = [(x[at : at + 32], y[at : at + 32]) for at in range(0, 320, 32)]
    told = traindx.preflight(Blind(), nn.CrossEntropyLoss(), batches, steps=70)
    assert not told
    assert told["inputs_matter"].status == "fail"
    assert "FAIL  The input matters" in str(told)
    assert told.notes == ("No optimizer was given: Adam with a rate of 0.001 was used.",)


def test_beside_a_recording_nothing_is_checked(tmp_path: Path) -> None:
    x, y = data()
    with traindx.watch(out=tmp_path / "mine"):
        told = traindx.preflight(nn.Linear(6, 2), nn.CrossEntropyLoss(), [(x, y)])
    assert {answer.status for _, answer in told.answers} == {"unknown"}


@pytest.mark.parametrize(
    ("model", "loss", "loader", "says"),
    [
        (3, nn.MSELoss(), [], "model must be"),
        (nn.Linear(1, 1), "mse", [], "loss_fn must be"),
        (nn.Linear(1, 1), nn.MSELoss(), 7, "loader must"),
    ],
)
def test_what_it_is_given_is_checked(model: object, loss: object, loader: object, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        traindx.preflight(model, loss, loader)  # type: ignore[arg-type]
