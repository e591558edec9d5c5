"""A small language model that really goes wrong: its learning rate warms up to far too much.

It learns well while the rate is small, then the loss climbs and at last is NaN. The log is in the
style of nanoGPT. `python tools/demo_log.py LICENSE > src/traindx/cli/_demo/diverged.log` wrote the
log that ships with traindx, with OPENBLAS_NUM_THREADS=1 to keep the step times even. Only numpy is
needed; it takes a few seconds.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

batch_size = 64
block_size = 12
n_embd = 16
n_hidden = 128
max_iters = 1500
warmup_iters = 1200
learning_rate = 0.4
momentum = 0.9
grad_clip = 0.0
eval_interval = 250
log_interval = 10
seed = 1337


class CharModel:
    """The next character from the last `block_size`: embedding, one bilinear unit, softmax."""

    def __init__(self, vocab: int, rng: np.random.Generator) -> None:
        def normal(*shape: int) -> np.ndarray:
            return (rng.normal(size=shape) * (1 / shape[0]) ** 0.5).astype(np.float32)

        width = block_size * n_embd
        self.p = {
            "embed": rng.normal(size=(vocab, n_embd)).astype(np.float32),
            "gate": normal(width, n_hidden),
            "value": normal(width, n_hidden),
            "w2": normal(n_hidden, vocab) * np.float32(0.1),
            "b2": np.zeros(vocab, np.float32),
        }

    def loss(self, x: np.ndarray, y: np.ndarray) -> tuple[float, dict[str, np.ndarray]]:
        """Cross-entropy and its gradients, by hand."""
        p = self.p
        inputs = p["embed"][x].reshape(len(x), -1)
        gate, value = inputs @ p["gate"], inputs @ p["value"]
        hidden = gate * value
        logits = hidden @ p["w2"] + p["b2"]
        logits = logits - logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        share = odds / odds.sum(axis=1, keepdims=True)
        rows = np.arange(len(y))
        loss = float(-np.log(share[rows, y]).mean())
        d_logits = share.copy()
        d_logits[rows, y] -= 1
        d_logits /= np.float32(len(y))
        d_hidden = d_logits @ p["w2"].T
        d_gate, d_value = d_hidden * value, d_hidden * gate
        d_inputs = d_gate @ p["gate"].T + d_value @ p["value"].T
        d_embed = np.zeros_like(p["embed"])
        np.add.at(d_embed, x, d_inputs.reshape(*x.shape, n_embd))
        grads = {
            "embed": d_embed,
            "gate": inputs.T @ d_gate,
            "value": inputs.T @ d_value,
            "w2": hidden.T @ d_logits,
            "b2": d_logits.sum(axis=0),
        }
        return loss, grads


def batch(data: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    starts = rng.integers(0, len(data) - block_size, batch_size)
    return data[starts[:, None] + np.arange(block_size)], data[starts + block_size]


def train(text: str) -> None:
    """Train on a text and print the log."""
    rng = np.random.default_rng(seed)
    letters = sorted(set(text))
    data = np.array([letters.index(letter) for letter in text])
    halves = {"train": data[: int(0.9 * len(data))], "val": data[int(0.9 * len(data)) :]}
    model = CharModel(len(letters), rng)
    speed = {name: np.zeros_like(value) for name, value in model.p.items()}
    print(f"vocab_size = {len(letters)}")
    print(f"number of parameters: {sum(value.size for value in model.p.values()) / 1e6:.2f}M")
    for it in range(max_iters + 1):
        lr = learning_rate * min(1.0, (it + 1) / warmup_iters)
        if it % eval_interval == 0:
            mean = {h: np.mean([model.loss(*batch(halves[h], rng))[0] for _ in range(20)]) for h in halves}
            print(f"step {it}: train loss {mean['train']:.4f}, val loss {mean['val']:.4f}")
        began = time.perf_counter()
        loss, grads = model.loss(*batch(halves["train"], rng))
        norm = float(np.sqrt(sum(float((g.astype(np.float64) ** 2).sum()) for g in grads.values())))
        for name, grad in grads.items():
            speed[name] = np.float32(momentum) * speed[name] + grad
            model.p[name] -= np.float32(lr) * speed[name]
        if it % log_interval == 0:
            took = (time.perf_counter() - began) * 1000
            print(f"iter {it}: loss {loss:.4f}, lr {lr:.4e}, grad_norm {norm:.4f}, time {took:.2f}ms")


if __name__ == "__main__":
    np.seterr(all="ignore")
    source = Path(sys.argv[1] if len(sys.argv) > 1 else __file__)
    for key in ("batch_size", "block_size", "n_embd", "n_hidden", "max_iters", "warmup_iters"):
        print(f"{key} = {globals()[key]}")
    for key in ("learning_rate", "momentum", "grad_clip", "seed"):
        print(f"{key} = {globals()[key]}")
    train(source.read_text(encoding="utf-8"))
