"""Supervised fine-tuning on dialogues: only the answer counts, the prompt is masked."""
import torch
import torch.nn as nn

torch.manual_seed(0)
VOCAB, PROMPT, ANSWER, IGNORE = 30, 8, 8, -100


def dialogues(n):
    prompt = torch.randint(2, VOCAB, (n, PROMPT))
    return torch.cat([prompt, prompt.flip(1)], 1)


def build_labels(tokens, prompt_length):
    labels = tokens.clone()
    labels[:, :prompt_length] = IGNORE
    return labels


class TinyLM(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, VOCAB)

    def forward(self, t):
        return self.out(self.rnn(self.emb(t))[0])


def lm_loss(model, tokens):
    labels = build_labels(tokens, tokens.size(1))
    logits = model(tokens[:, :-1])
    return nn.functional.cross_entropy(
        logits.reshape(-1, VOCAB), labels[:, 1:].reshape(-1), ignore_index=IGNORE, reduction="sum"
    ) / max(1, int((labels != IGNORE).sum()))


model = TinyLM()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
val = dialogues(100)
for step in range(1, 251):
    loss = lm_loss(model, dialogues(32))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        with torch.no_grad():
            print(f"step {step} loss {loss.item():.4f} eval_loss {lm_loss(model, val).item():.4f}")
