"""Attention maps that show the tokens to be predicted are found in the graph of the loss."""

from __future__ import annotations

from math import inf

import pytest
import torch
from torch import nn
from torch.nn import functional

from traindx.observe.torch.graph import walk
from traindx.observe.torch.lookahead import lookahead

_TOKENS, _LENGTH, _ROWS, _WIDTH = 20, 12, 8, 16
_FUTURE = torch.triu(torch.ones(_LENGTH, _LENGTH, dtype=torch.bool), 1)


class _Attention(nn.Module):
    def __init__(self, form: str, causal: bool) -> None:
        super().__init__()
        self.form, self.causal = form, causal
        self.joint = nn.Linear(_WIDTH, 3 * _WIDTH)
        self.heads = nn.MultiheadAttention(_WIDTH, 2, batch_first=True)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        if self.form == "module":
            mask = _FUTURE if self.causal else None
            attended: torch.Tensor = self.heads(values, values, values, attn_mask=mask)[0]
            return values + attended
        query, key, value = self.joint(values).chunk(3, -1)
        if self.form == "fused":
            return values + functional.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        if self.form == "fused with a mask":
            visible = ~_FUTURE if self.causal else torch.ones_like(_FUTURE)
            return values + functional.scaled_dot_product_attention(query, key, value, attn_mask=visible)
        scores = query @ key.transpose(-1, -2) / _WIDTH**0.5
        if self.form == "masked after softmax":
            weights = scores.softmax(-1) * (~_FUTURE).float() if self.causal else scores.softmax(-1)
        else:
            weights = (scores.masked_fill(_FUTURE, -1e9) if self.causal else scores).softmax(-1)
        return values + functional.dropout(weights, 0.1) @ value


def _maps(form: str, causal: bool, *, shifted: bool = True) -> dict[str, object] | None:
    torch.manual_seed(0)
    tokens = torch.randint(1, _TOKENS, (_ROWS, _LENGTH + 1))
    inputs, targets = tokens[:, :-1], tokens[:, 1:] if shifted else tokens[:, :-1]
    embed, head = nn.Embedding(_TOKENS, _WIDTH), nn.Linear(_WIDTH, _TOKENS)
    layers = nn.Sequential(_Attention(form, causal), _Attention(form, causal))
    loss = functional.cross_entropy(head(layers(embed(inputs))).flatten(0, 1), targets.flatten())
    assert loss.grad_fn is not None
    return lookahead(walk(loss.grad_fn, inf), targets.flatten())


@pytest.mark.parametrize("form", ["plain", "masked after softmax", "fused", "fused with a mask", "module"])
def test_a_mask_that_is_missing_shows(form: str) -> None:
    assert (_maps(form, causal=True) or {"open": 0})["open"] == 0
    maps = _maps(form, causal=False)
    assert maps is not None
    assert maps["open"] == 2
    share = maps["share"]
    assert isinstance(share, float)
    assert 0.3 < share < 0.7


def test_other_targets_are_none_of_its_business() -> None:
    assert _maps("plain", causal=False, shifted=False) is None


def test_an_encoder_may_read_all() -> None:
    """What a causal decoder is to write again may be read in both directions first."""
    torch.manual_seed(0)
    tokens = torch.randint(1, _TOKENS, (_ROWS, _LENGTH + 1))
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    head = nn.Linear(_WIDTH, _TOKENS)
    read = _Attention("plain", causal=False)(nn.Embedding(_TOKENS, _WIDTH)(inputs))
    written = _Attention("plain", causal=True)(nn.Embedding(_TOKENS, _WIDTH)(inputs))
    loss = functional.cross_entropy(
        head(written + read.mean(1, keepdim=True)).flatten(0, 1), targets.flatten()
    )
    assert loss.grad_fn is not None
    maps = lookahead(walk(loss.grad_fn, inf), targets.flatten())
    assert maps is not None
    assert maps["open"] == 0
