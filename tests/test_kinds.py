"""Layers and losses have one kind, whichever framework names them."""

from __future__ import annotations

import pytest

from traindx.core import kinds


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("Linear", "LazyLinear", "Dense"), "dense"),
        (("Conv2d", "Conv2D", "ConvTranspose1d", "SeparableConv2D", "DepthwiseConv2D"), "conv"),
        (("LSTM", "GRUCell", "SimpleRNN", "RNN"), "recurrent"),
        (("MultiheadAttention", "MultiHeadAttention", "TransformerEncoderLayer"), "attention"),
        (("BatchNorm2d", "LayerNormalization", "GroupNorm"), "norm"),
        (("Embedding", "EmbeddingBag"), "embedding"),
        (("Flatten", "Bilinear", "Identity"), "other"),
    ],
)
def test_layers(names: tuple[str, ...], kind: str) -> None:
    for name in names:
        assert kinds.layer_kind(name) == kind, name


def test_losses_of_older_recordings_are_known_by_their_function() -> None:
    assert kinds.loss_kind({"function": "cross_entropy"}) == "softmax_cross_entropy"
    assert kinds.loss_kind({"function": "mse_loss", "kind": "mse"}) == "mse"
    assert kinds.loss_kind({"function": "my_loss"}) == "my_loss"
    assert kinds.loss_kind({}) == ""


def test_activations() -> None:
    assert kinds.activation_by_name("relu") == kinds.RECTIFIER
    assert kinds.activation_by_name("Softmax") is None
    assert kinds.activation_by_name("hard_sigmoid".replace("_", "")) == kinds.HARD_SIGMOID
