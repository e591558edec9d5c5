#!/usr/bin/env python3
"""Recurrent LM on nested brackets with noise, gradient norm clipped to a small value all the time."""
import argparse, random, sys
import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument('--clip', type=float, default=0.05)
ap.add_argument('--iters', type=int, default=900)
args = ap.parse_args()
random.seed(10); torch.manual_seed(10)
OPEN, CLOSE = '([{<', ')]}>'
SYM = OPEN + CLOSE + 'abcd'


def stream(n):
    out, stack = [], []
    while len(out) < n:
        r = random.random()
        if r < .3:
            out.append(random.choice('abcd'))
        elif (r < .65 and len(stack) < 8) or not stack:
            k = random.randrange(4); stack.append(k); out.append(OPEN[k])
        else:
            out.append(CLOSE[stack.pop()])
    return torch.tensor([SYM.index(c) for c in out])


corpus = stream(160_000).view(64, -1)
valid = stream(8_000).view(8, -1)


class LM(nn.Module):
    def __init__(self, h=96):
        super().__init__()
        self.e = nn.Embedding(len(SYM), 32)
        self.r = nn.LSTM(32, h, batch_first=True)
        self.o = nn.Linear(h, len(SYM))

    def forward(self, x, s=None):
        y, s = self.r(self.e(x), s)
        return self.o(y), s


def closing_accuracy(m):
    with torch.no_grad():
        o, _ = m(valid[:, :-1])
    tgt = valid[:, 1:]
    sel = (tgt >= 4) & (tgt < 8)
    return (o[..., 4:8].argmax(-1) + 4)[sel].eq(tgt[sel]).float().mean().item()


m = LM()
opt = torch.optim.AdamW(m.parameters(), lr=3e-3)
T, state, pos = 48, None, 0
for it in range(1, args.iters + 1):
    if pos + T + 1 > corpus.shape[1]:
        pos, state = 0, None
    x, y = corpus[:, pos:pos + T], corpus[:, pos + 1:pos + T + 1]
    pos += T
    logits, state = m(x, state)
    state = tuple(s.detach() for s in state)
    loss = nn.functional.cross_entropy(logits.reshape(-1, len(SYM)), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(m.parameters(), args.clip)
    opt.step()
    if it % 30 == 0:
        print('iter %4d/%d  loss %.4f  grad norm %.3f (clipped to %.2f)' % (it, args.iters, loss.item(), norm, args.clip))
        sys.stdout.flush()
print('bracket kind accuracy %.4f' % closing_accuracy(m))
