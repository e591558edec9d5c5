import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD, BOS, EOS, FIRST = 0, 1, 2, 3
N = 12
torch.manual_seed(3)


def make_pairs(n):
    pairs = []
    for _ in range(n):
        src = torch.randint(FIRST, FIRST + N, (int(torch.randint(2, 7, (1,))),))
        tgt = torch.cat([torch.tensor([BOS]), src.flip(0), torch.tensor([EOS])])
        pairs.append((src, tgt))
    return pairs


def collate(batch):
    src, tgt = zip(*batch, strict=True)
    return pad_sequence(src, True, PAD), pad_sequence(tgt, True, PAD)


class Seq2Seq(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.emb = nn.Embedding(FIRST + N, dim, padding_idx=PAD)
        self.enc = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * dim, dim)
        self.dec = nn.GRU(dim, dim, batch_first=True)
        self.attn = nn.Linear(dim, 2 * dim)
        self.out = nn.Linear(3 * dim, FIRST + N)

    def forward(self, src, tgt_in):
        memory, h = self.enc(self.emb(src))
        h = torch.tanh(self.bridge(torch.cat([h[0], h[1]], 1))).unsqueeze(0)
        states, _ = self.dec(self.emb(tgt_in), h)
        score = self.attn(states) @ memory.transpose(1, 2)
        score = score.masked_fill((src == PAD).unsqueeze(1), float("-inf"))
        ctx = score.softmax(-1) @ memory
        return self.out(torch.cat([states, ctx], 2))


def main():
    train = DataLoader(make_pairs(2000), batch_size=50, shuffle=True, collate_fn=collate)
    val = DataLoader(make_pairs(300), batch_size=100, collate_fn=collate)
    model = Seq2Seq()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    crit = nn.CrossEntropyLoss(ignore_index=PAD)

    def loss_of(batch):
        src, tgt = batch
        logits = model(src, tgt[:, :-1])
        return crit(logits.flatten(0, 1), tgt[:, 1:].flatten())

    for epoch in range(6):
        model.train()
        total = 0.0
        for batch in train:
            opt.zero_grad()
            loss = loss_of(batch)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            v = sum(loss_of(b).item() for b in val) / len(val)
        print(f"Epoch {epoch + 1} | Train Loss: {total / len(train):.3f} | Val. Loss: {v:.3f}")


main()
