"""Multi-label tagging of short token sequences."""
import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--epochs", type=int, default=9)
    p.add_argument("--batch-size", type=int, default=96)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--head-lr", type=float, default=4e-3)
    p.add_argument("--weight-decay", type=float, default=1e-4)
    p.add_argument("--n-tags", type=int, default=6)
    p.add_argument("--vocab", type=int, default=64)
    p.add_argument("--seq-len", type=int, default=14)
    p.add_argument("--clip", type=float, default=1.0)
    return p.parse_args()


class Notes(Dataset):
    """Tag k is on when one of its cue words is followed somewhere later by one of its marker words."""

    def __init__(self, n, args, cues, marks, seed):
        g = torch.Generator().manual_seed(seed)
        tok = torch.randint(0, args.vocab, (n, args.seq_len), generator=g)
        tags = torch.zeros(n, args.n_tags)
        for k in range(args.n_tags):
            is_cue = (tok[..., None] == cues[k]).any(-1)
            is_mark = (tok[..., None] == marks[k]).any(-1)
            seen = is_cue.cumsum(1) > 0
            tags[:, k] = (seen & is_mark).any(1).float()
        flip = torch.rand(tags.shape, generator=g) < 0.02
        self.tok, self.tags = tok, torch.where(flip, 1 - tags, tags)

    def __len__(self):
        return len(self.tok)

    def __getitem__(self, i):
        return self.tok[i], self.tags[i]


class SequenceEncoder(nn.Module):
    def __init__(self, vocab, emb=32, hidden=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.gru = nn.GRU(emb, hidden, batch_first=True)

    def forward(self, tok):
        states, _ = self.gru(self.embed(tok))
        return states.max(dim=1).values


class TagModel(nn.Module):
    def __init__(self, encoder, dim, n_tags):
        super().__init__()
        self.encoder = encoder
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, n_tags))

    def forward(self, tok):
        feats = self.encoder(tok).detach()
        return self.head(self.norm(feats))


def train(model, loader, optimizer, criterion, clip):
    model.train()
    total = 0.0
    for tok, tags in loader:
        optimizer.zero_grad()
        loss = criterion(model(tok), tags)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        total += loss.item() * len(tok)
    return total / len(loader.dataset)


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    total, tp, fp, fn = 0.0, 0.0, 0.0, 0.0
    for tok, tags in loader:
        logits = model(tok)
        total += criterion(logits, tags).item() * len(tok)
        pred = (logits > 0).float()
        tp += (pred * tags).sum().item()
        fp += (pred * (1 - tags)).sum().item()
        fn += ((1 - pred) * tags).sum().item()
    return total / len(loader.dataset), 2 * tp / max(2 * tp + fp + fn, 1.0)


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    words = torch.randperm(args.vocab)
    cues = words[: args.n_tags * 4].view(args.n_tags, 4)
    marks = words[args.n_tags * 4: args.n_tags * 8].view(args.n_tags, 4)
    train_dl = DataLoader(Notes(6000, args, cues, marks, 1), batch_size=args.batch_size, shuffle=True)
    valid_dl = DataLoader(Notes(1000, args, cues, marks, 2), batch_size=256)

    model = TagModel(SequenceEncoder(args.vocab), 48, args.n_tags)
    optimizer = torch.optim.AdamW(
        [
            {"params": model.encoder.parameters(), "lr": args.lr},
            {"params": model.norm.parameters(), "lr": args.head_lr, "weight_decay": 0.0},
            {"params": model.head.parameters(), "lr": args.head_lr},
        ],
        weight_decay=args.weight_decay,
    )
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(1, args.epochs + 1):
        tr = train(model, train_dl, optimizer, criterion, args.clip)
        va, f1 = evaluate(model, valid_dl, criterion)
        print(f"epoch {epoch:3d} | train loss {tr:.4f} | valid loss {va:.4f} | micro-F1 {f1:.4f}")


if __name__ == "__main__":
    main()
