"""A small character model that learns to write Python from the source of a standard module.

Something in it is wrong, and the loss shows it. `traindx run` says what.
"""

# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import LinearLR
from torch.utils.data import DataLoader, TensorDataset

context = 16
batch_size = 64
steps = 800
warmup = 300
learning_rate = 0.3
eval_every = 80


class CharModel(nn.Module):
    """The next character from the last sixteen."""

    def __init__(self, letters, width=16, hidden=128):
        super().__init__()
        self.embed = nn.Embedding(letters, width)
        self.hidden1 = nn.Linear(context * width, hidden)
        self.hidden2 = nn.Linear(hidden, hidden)
        self.tanh = nn.Tanh()
        self.head = nn.Linear(hidden, letters)

    def forward(self, x):
        x = self.embed(x).flatten(1)
        x = self.tanh(self.hidden1(x))
        x = self.tanh(self.hidden2(x))
        return self.head(x)


def load():
    text = Path(argparse.__file__).read_text(encoding="utf-8")
    letters = sorted(set(text))
    data = torch.tensor([letters.index(letter) for letter in text])
    inputs, targets = data.unfold(0, context, 1)[:-1], data[context:]
    order = torch.randperm(len(inputs))
    val, train = order[:1000], order[1000:]
    return TensorDataset(inputs[train], targets[train]), TensorDataset(inputs[val], targets[val]), letters


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    losses, hits = [], 0
    for x, y in loader:
        logits = model(x)
        losses.append(F.cross_entropy(logits, y).item())
        hits += (logits.argmax(1) == y).sum().item()
    model.train()
    return sum(losses) / len(losses), hits / len(loader.dataset)


def main():
    torch.manual_seed(1337)
    torch.set_num_threads(1)  # the model is too small for more
    train, val, letters = load()
    loader = DataLoader(train, batch_size=batch_size, shuffle=True)
    val_loader = DataLoader(val, batch_size=500)
    model = CharModel(len(letters))
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    schedule = LinearLR(optimizer, start_factor=0.01, total_iters=warmup)

    for step, (x, y) in enumerate(loader, start=1):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % eval_every == 0:
            val_loss, accuracy = evaluate(model, val_loader)
            print(f"step {step:4d}  loss {loss.item():.4f}  val loss {val_loss:.4f}  val acc {accuracy:.3f}")
        if step == steps:
            break


if __name__ == "__main__":
    main()
