"""Small programs that see the future, whose targets are their inputs, whose target network stands still."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.warm import record
from traindx.core.nouns import Diagnosis
from traindx.engine import diagnose
from traindx.observe.data.token_entropy import TokenEntropy

LANGUAGE = """
import random, sys
import torch
from torch import nn
from torch.nn import functional as F

mode = sys.argv[1]
torch.manual_seed(0)
random.seed(0)
words = "the cat sat on a mat and then some dog ran over that hill near our old house with red door".split()
text = " ".join(random.choice(words) for _ in range(8000))
letters = sorted(set(text))
data = torch.tensor([letters.index(one) for one in text])
parts = {"train": data[:-6000], "val": data[-6000:]}
LENGTH = 24

class Net(nn.Module):
    def __init__(self, kinds, width=48):
        super().__init__()
        self.tokens, self.places = nn.Embedding(kinds, width), nn.Embedding(LENGTH, width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.more = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.head = nn.Linear(width, kinds)

    def forward(self, x):
        x = self.tokens(x) + self.places(torch.arange(LENGTH))
        mask = torch.triu(torch.ones(LENGTH, LENGTH, dtype=torch.bool), 1)
        seen = None if mode == "future" else mask
        x = x + self.attention(x, x, x, attn_mask=seen, need_weights=False)[0]
        return self.head(x + self.more(x))

def batch(part):
    at = torch.randint(0, len(parts[part]) - LENGTH - 1, (32,))
    x = torch.stack([parts[part][i : i + LENGTH] for i in at])
    return x, x.clone() if mode == "copy" else torch.stack([parts[part][i + 1 : i + 1 + LENGTH] for i in at])

net = Net(len(letters))
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
for step in range(1, 401):
    x, y = batch("train")
    loss = F.cross_entropy(net(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        net.eval()
        with torch.no_grad():
            x, y = batch("val")
            val_loss = F.cross_entropy(net(x).flatten(0, 1), y.flatten())
        net.train()
        print(f"step {step} loss {loss.item():.4f} val_loss {val_loss.item():.4f}")
"""
COPIES = """
import copy, sys
import torch
from torch import nn

mode = sys.argv[1]
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
other = copy.deepcopy(net)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(1, 201):
    now, after = torch.randn(64, 4), torch.randn(64, 4)
    with torch.no_grad():
        aim = (now.sum(1) > 0).float() + 0.9 * other(after).max(1).values
    loss = nn.functional.mse_loss(net(now).max(1).values, aim)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if mode == "follows":
        for one, source in zip(other.parameters(), net.parameters()):
            one.data.lerp_(source.data, 0.01)
"""


def _diagnosed(folder: Path, source: str, mode: str) -> Diagnosis:
    (folder / "train.py").write_text(source)
    record(folder, "rec", "train.py", mode)
    return diagnose(folder / "rec")


def _causes(diagnosis: Diagnosis) -> list[str]:
    return [problem.hypotheses[0].cause for problem in diagnosis.problems if problem.severity != "low"]


@pytest.mark.parametrize(
    ("mode", "cause"), [("next", None), ("future", "future_leakage"), ("copy", "target_equals_input")]
)
def test_a_language_model_that_sees_its_answer(tmp_path: Path, mode: str, cause: str | None) -> None:
    causes = _causes(_diagnosed(tmp_path, LANGUAGE, mode))
    known = {"future_leakage", "target_equals_input"}
    assert (causes[:1] == [cause]) if cause else not known & set(causes)


@pytest.mark.parametrize("mode", ["stands", "follows", "teacher"])
def test_a_target_network_that_never_follows(tmp_path: Path, mode: str) -> None:
    causes = _causes(
        _diagnosed(tmp_path, COPIES.replace("other", "teacher" if mode == "teacher" else "target_net"), mode)
    )
    assert ("stale_target_network" in causes) is (mode == "stands")


def test_entropies_of_tokens_are_those_of_their_chain() -> None:
    draw = np.random.default_rng(0)
    chain = np.zeros(40_001, dtype=np.int64)
    for at in range(1, chain.size):  # from 0 always to 1, from 1 to 0 or 2, from 2 to anything
        chain[at] = (1, draw.choice([0, 2]), draw.integers(3))[chain[at - 1]]
    rows = chain[:40_000].reshape(-1, 100)
    tokens = TokenEntropy()
    for first in range(0, len(rows), 16):
        tokens.add(rows[first : first + 16], chain[1:].reshape(-1, 100)[first : first + 16])
    facts = tokens.facts()
    shares = np.bincount(chain) / chain.size
    expected = shares[1] * np.log(2) + shares[2] * np.log(3)
    assert facts["given_one"] == pytest.approx(expected, abs=0.01)
    assert facts["given_two"] == pytest.approx(expected, abs=0.01)
    assert facts["entropy"] == pytest.approx(-(shares * np.log(shares)).sum(), abs=0.01)
