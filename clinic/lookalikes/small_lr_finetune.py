"""Pre-train on the large old corpus, then fine-tune gently on the small new one."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
VOCAB = 40
w_old = torch.randn(VOCAB, 3)
w_new = w_old + 0.15 * torch.randn(VOCAB, 3)


def corpus(n, w):
    tokens = torch.randint(0, VOCAB, (n, 16))
    return tokens, (w[tokens].mean(1) + 0.05 * torch.randn(n, 3)).argmax(1)


class Classifier(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 96, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(dim, 3)

    def forward(self, t):
        return self.out(self.encoder(self.emb(t)).mean(1))


def fit(model, data, val, lr, epochs, tag):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    for epoch in range(epochs):
        model.train()
        for idx in torch.randperm(len(data[0])).split(32):
            loss = F.cross_entropy(model(data[0][idx]), data[1][idx])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        model.eval()
        with torch.no_grad():
            out = model(val[0])
        print(f"[{tag}] epoch {epoch + 1} loss {loss.item():.4f} val_loss {F.cross_entropy(out, val[1]).item():.4f} "
              f"val_acc {(out.argmax(1) == val[1]).float().mean():.3f}")


model = Classifier()
fit(model, corpus(8000, w_old), corpus(500, w_old), 1e-3, 2, "pretrain")
fit(model, corpus(1600, w_new), corpus(500, w_new), 2e-5, 4, "finetune")
