from __future__ import annotations
import argparse, math
from contextlib import nullcontext
from dataclasses import dataclass, field
import torch
from torch import nn, Tensor
from torch.nn import functional as F
from torch.utils.data import DataLoader, random_split, Dataset
@dataclass
class TrainConfig:
    lr: float = 3e-4
    batch_size: int = 32
    accum_steps: int = 4
    max_grad_norm: float = 1.0
    use_amp: bool = True
    epochs: int = 10
    warmup: int = 100
class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, h, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d), nn.Dropout(0.1))
    def forward(self, x):
        h = self.ln1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))
class GPT(nn.Module):
    def __init__(self, vocab=100, d=64, n=4):
        super().__init__()
        self.tok = nn.Embedding(vocab, d)
        self.pos = nn.Parameter(torch.zeros(1, 128, d))
        self.blocks = nn.ModuleList([Block(d, 4) for _ in range(n)])
        self.head = nn.Linear(d, vocab, bias=False)
        self.head.weight = self.tok.weight
        self.apply(self._init)
    def _init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.02)
    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos[:, : idx.shape[1]]
        for b in self.blocks:
            x = b(x)
        logits = self.head(x)
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
class Trainer:
    def __init__(self, cfg: TrainConfig, model, train_ds, val_ds):
        self.cfg, self.model = cfg, model
        decay = [p for n, p in model.named_parameters() if p.dim() >= 2]
        rest = [p for n, p in model.named_parameters() if p.dim() < 2]
        self.opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=cfg.lr, betas=(0.9, 0.95))
        self.loader = DataLoader(train_ds, batch_size=cfg.batch_size, shuffle=True)
        self.val_loader = DataLoader(val_ds, batch_size=cfg.batch_size)
        total = cfg.epochs * len(self.loader) // cfg.accum_steps
        self.sched = torch.optim.lr_scheduler.LambdaLR(self.opt, lambda s: min(1, (s + 1) / cfg.warmup) * 0.5 * (1 + math.cos(math.pi * s / total)))
        self.scaler = torch.amp.GradScaler("cuda", enabled=cfg.use_amp)
        self.ctx = torch.autocast("cuda") if cfg.use_amp else nullcontext()
    def train_epoch(self):
        self.model.train()
        total = 0.0
        self.opt.zero_grad(set_to_none=True)
        for i, (x, y) in enumerate(self.loader):
            with self.ctx:
                _, loss = self.model(x, y)
                loss = loss / self.cfg.accum_steps
            self.scaler.scale(loss).backward()
            if (i + 1) % self.cfg.accum_steps == 0:
                self.scaler.unscale_(self.opt)
                nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.max_grad_norm)
                self.scaler.step(self.opt)
                self.scaler.update()
                self.opt.zero_grad(set_to_none=True)
                self.sched.step()
            total += loss.item()
        return total
    @torch.inference_mode()
    def evaluate(self):
        self.model.eval()
        return sum(self.model(x, y)[1].item() for x, y in self.val_loader) / len(self.val_loader)
    def fit(self):
        for epoch in range(self.cfg.epochs):
            tr = self.train_epoch(); va = self.evaluate()
            print(epoch, tr, va)
class Text(Dataset):
    def __len__(self): return 100
    def __getitem__(self, i): return torch.randint(0, 100, (16,)), torch.randint(0, 100, (16,))
def main():
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, default=3e-4)
    a = p.parse_args()
    ds = Text()
    tr, va = random_split(ds, [80, 20])
    Trainer(TrainConfig(lr=a.lr), GPT(), tr, va).fit()
if __name__ == "__main__":
    main()
