import torch
import torch.nn as nn

PAD, MASK, VOCAB = 0, 1, 22
torch.manual_seed(20)


def sentences(n, length=12):
    """Counting sentences: each word follows from the one before."""
    start = torch.randint(2, VOCAB, (n, 1))
    stride = torch.randint(1, 4, (n, 1))
    return 2 + (start + stride * torch.arange(length)) % (VOCAB - 2)


def mask_tokens(ids, share=0.2):
    chosen = torch.rand(ids.shape) < share
    inputs = ids.masked_fill(chosen, MASK)
    labels = ids.masked_fill(~chosen, -100)
    return inputs, labels


class MaskedLM(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * dim, VOCAB)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


model = MaskedLM()
criterion = nn.CrossEntropyLoss(ignore_index=-100)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)


def compute_loss(ids):
    inputs, labels = mask_tokens(ids)
    logits = model(inputs)
    return criterion(logits.view(-1, VOCAB), labels.view(-1))


valid = sentences(300)
for step in range(1, 401):
    loss = compute_loss(sentences(32))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        with torch.no_grad():
            val_loss = compute_loss(valid)
        print(f"step {step} | loss {loss.item():.4f} | val loss {val_loss.item():.4f}")
