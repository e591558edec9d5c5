"""What the graph of a loss tells: layers with nothing between, the last operations, stretched shapes."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from traindx.observe.data.answers import answer_statistics
from traindx.observe.torch import element_samples as element_samples
from traindx.observe.torch.graph_structure import end_operations, linear_pairs, stretched


def pairs(model: nn.Module, x: torch.Tensor) -> tuple[int, set[tuple[str, str]]]:
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    told = linear_pairs(model(x).sum().grad_fn, lambda one: names[id(one)])
    return told["layers"], {(pair["first"], pair["second"]) for pair in told["linear_pairs"]}


def test_layers_in_a_row() -> None:
    plain = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    assert pairs(plain, torch.randn(6, 4)) == (3, {("0", "2")})


def test_images_and_batch_norm() -> None:
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3), nn.Flatten(), nn.Linear(64, 2)
    )
    assert pairs(model, torch.randn(6, 1, 8, 8)) == (3, {("0", "2"), ("2", "4")})


@pytest.mark.parametrize("between", [nn.ReLU(), nn.GELU(), nn.LayerNorm(8), nn.Softmax(-1), nn.Hardswish()])
def test_what_parts_them(between: nn.Module) -> None:
    model = nn.Sequential(nn.Linear(4, 8), between, nn.Linear(8, 2))
    assert pairs(model, torch.randn(6, 4))[1] == set()


def test_attention_and_residuals_are_no_rows() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
            self.a, self.b = nn.Linear(8, 16), nn.Linear(16, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = x + self.attention(x, x, x, need_weights=False)[0]
            return x + self.b(torch.relu(self.a(x)))

    assert pairs(nn.Sequential(Block(), Block()), torch.randn(2, 5, 8))[1] == set()


def test_operations_after_the_last_layer() -> None:
    layer, x = nn.Linear(4, 3), torch.randn(6, 4)
    assert end_operations(F.softmax(layer(x), -1)) == ["Softmax", "Addmm"]
    assert end_operations(torch.sigmoid(layer(x)).clamp(0.1, 0.9)[:, :1].squeeze(1))[:2] == [
        "Clamp",
        "Sigmoid",
    ]
    assert end_operations(layer(x)) == ["Addmm"]


def test_a_table_out_of_two_columns() -> None:
    layer, x, y = nn.Linear(4, 1), torch.randn(6, 4), torch.randn(6)
    assert stretched(((layer(x) - y) ** 2).mean().grad_fn) == [
        {"operation": "Sub", "from": "6x1", "to": "6x6"}
    ]
    assert stretched(((y[:, None] - layer(x).squeeze(1)) ** 2).mean().grad_fn) != []
    assert stretched(((layer(x).squeeze(1) - y) ** 2).mean().grad_fn) == []


def test_comparing_samples_with_each_other_is_meant() -> None:
    z = nn.Linear(4, 1)(torch.randn(6, 4))
    assert stretched(((z - z.T) ** 2).mean().grad_fn) == []


def test_probabilities_and_right_answers() -> None:
    logits, y = torch.randn(32, 5), torch.randint(0, 5, (32,))
    told = answer_statistics("softmax_cross_entropy", torch.softmax(logits, 1), y)
    assert told["row_sum_error"] == pytest.approx(0, abs=1e-5)
    assert told["right_share"] == pytest.approx((logits.argmax(1) == y).float().mean().item())
    assert told["top_share"] == pytest.approx(logits.argmax(1).bincount().max().item() / 32)
    assert (answer_statistics("softmax_cross_entropy", logits, y)["row_sum_error"] or 0) > 0.1


def test_explained_variance() -> None:
    y = torch.randn(40, 1)
    assert answer_statistics("mse", y + 0.1 * torch.randn(40, 1), y)["explained"] == pytest.approx(
        0.99, abs=0.02
    )
    assert answer_statistics("mse", torch.zeros(40, 1), y)["batch_std"] == 0
    assert answer_statistics("mse", torch.zeros(40, 1), y[:20]) == {}
