#!/usr/bin/env python
"""Toy translation. Source symbol s is translated, in reversed order, to synonym 2s (p=.8) or 2s+1 (p=.2).
Irreducible cross-entropy per content token: H(.8,.2)=0.5004 nats, EOS costs 0."""
import argparse, logging, math, random
import torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("s2s")
PAD, BOS, EOS, NS = 0, 1, 2, 10


def batch(n, gen):
    L = torch.randint(3, 8, (n,), generator=gen)
    T = int(L.max())
    pos = torch.arange(T)[None]
    live = pos < L[:, None]
    s = torch.randint(0, NS, (n, T), generator=gen)
    syn = (torch.rand(n, T, generator=gen) < .2).long()
    src = (s + 3) * live
    rev = s.gather(1, (L[:, None] - 1 - pos).clamp_min(0))
    tgt = torch.zeros(n, T + 2, dtype=torch.long)
    tgt[:, 0] = BOS
    tgt[:, 1:T + 1] = (2 * rev + syn + 3) * live
    tgt[torch.arange(n), L + 1] = EOS
    return src, L, tgt


class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.e = nn.Embedding(NS + 3, d, padding_idx=PAD)
        self.r = nn.GRU(d, d // 2, batch_first=True, bidirectional=True)

    def forward(self, src, L):
        p = nn.utils.rnn.pack_padded_sequence(self.e(src), L, batch_first=True, enforce_sorted=False)
        o, h = self.r(p)
        o, _ = nn.utils.rnn.pad_packed_sequence(o, batch_first=True)
        return o, torch.cat([h[0], h[1]], -1)


class Decoder(nn.Module):
    def __init__(self, d, V):
        super().__init__()
        self.e = nn.Embedding(V, d, padding_idx=PAD)
        self.r = nn.GRU(d, d, batch_first=True)
        self.q = nn.Linear(d, d, bias=False)
        self.out = nn.Sequential(nn.Linear(2 * d, d), nn.Tanh(), nn.Linear(d, V))

    def forward(self, tok, h, mem, mask):
        o, h = self.r(self.e(tok), h)
        a = self.q(o) @ mem.transpose(1, 2) / math.sqrt(mem.size(-1))
        a = a.masked_fill(mask[:, None], -1e9).softmax(-1)
        return self.out(torch.cat([o, a @ mem], -1)), h


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=700)
    ap.add_argument("--dim", type=int, default=64)
    ap.add_argument("--lr", type=float, default=3e-3)
    a = ap.parse_args()
    random.seed(0); torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1); vgen = torch.Generator().manual_seed(2)
    V = 2 * NS + 3
    enc, dec = Encoder(a.dim), Decoder(a.dim, V)
    params = list(enc.parameters()) + list(dec.parameters())
    opt = torch.optim.Adam(params, lr=a.lr)
    sch = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: 1.0 if s < a.steps * .5 else max(.05, 2 * (1 - s / a.steps)))
    ce = nn.CrossEntropyLoss(ignore_index=PAD)
    vs, vL, vt = batch(512, vgen)

    def nll(s, L, t):
        mem, h = enc(s, L)
        o, _ = dec(t[:, :-1], h[None], mem, s[:, :mem.size(1)] == PAD)
        return ce(o.flatten(0, 1), t[:, 1:].flatten())

    for step in range(1, a.steps + 1):
        enc.train(); dec.train()
        s, L, t = batch(64, gen)
        loss = nll(s, L, t)
        opt.zero_grad(); loss.backward()
        nn.utils.clip_grad_norm_(params, 1.0)
        opt.step(); sch.step()
        if step % 50 == 0:
            enc.eval(); dec.eval()
            with torch.no_grad():
                log.info("step=%d train_nll=%.4f val_nll=%.4f", step, loss.item(), nll(vs, vL, vt).item())

    with torch.no_grad():   # free-running decode: right concept (ignoring the synonym)?
        mem, h = enc(vs, vL); mask = vs == PAD; h = h[None]
        tok = torch.full((512, 1), BOS); outs = []
        for _ in range(vt.size(1) - 1):
            o, h = dec(tok, h, mem, mask); tok = o.argmax(-1); outs.append(tok)
        pred, gold = torch.cat(outs, 1), vt[:, 1:]
        ok = (((pred - 3) // 2 == (gold - 3) // 2) & ((pred < 3) == (gold < 3))) | (gold == PAD)
        n = (gold != PAD).sum().item(); c = (gold > EOS).sum().item()
        log.info("sequence accuracy %.3f  nll floor %.4f", ok.all(1).float().mean(), c / n * 0.5004)


if __name__ == "__main__":
    main()
