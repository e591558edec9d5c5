"""Bag-of-words topic classifier on generated documents."""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def documents(n, vocab, topics, rng, word_probs):
    y = rng.integers(0, topics, n)
    counts = np.stack([rng.multinomial(25, word_probs[t]) for t in y])
    return torch.tensor(np.log1p(counts), dtype=torch.float32), torch.tensor(y)


class BowClassifier(nn.Module):
    def __init__(self, vocab, hidden, topics):
        super().__init__()
        self.embed = nn.Linear(vocab, hidden)
        self.classify = nn.Linear(hidden, topics)

    def forward(self, x):
        h = F.relu(self.embed(x))
        return F.log_softmax(self.classify(h), dim=-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=40)
    args = parser.parse_args()

    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    vocab, topics = 120, 6
    word_probs = rng.dirichlet(np.full(vocab, 2.0), size=topics)
    x, y = documents(4000, vocab, topics, rng, word_probs)
    x_test, y_test = documents(500, vocab, topics, rng, word_probs)

    model = BowClassifier(vocab, 32, topics)
    criterion = nn.NLLLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)

    for epoch in range(1, args.epochs + 1):
        perm = torch.randperm(len(x))
        total, batches = 0.0, 0
        for start in range(0, len(x), args.batch_size):
            batch = perm[start : start + args.batch_size]
            optimizer.zero_grad()
            loss = criterion(model(x[batch]), y[batch])
            loss.backward()
            optimizer.step()
            total, batches = total + loss.item(), batches + 1
        with torch.no_grad():
            scores = model(x_test)
            test_loss = criterion(scores, y_test)
            accuracy = (scores.argmax(-1) == y_test).float().mean()
        print(
            f"Epoch {epoch}/{args.epochs} - loss: {total / batches:.4f} - val_loss: {test_loss:.4f} - val_acc: {accuracy:.4f}"
        )


if __name__ == "__main__":
    main()
