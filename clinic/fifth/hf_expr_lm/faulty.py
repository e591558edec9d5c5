"""Character LM on arithmetic statements; a tiny GPT-2 trained with the HF Trainer."""
import random
import tempfile
import torch
import transformers
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

transformers.set_seed(29)
CH = "_0123456789+-=;"
stoi = {c: i for i, c in enumerate(CH)}
BLOCK = 32


def stmt():
    a, b = random.randint(0, 14), random.randint(0, 14)
    return f"{a}+{b}={a + b};" if random.random() < .5 else f"{a + b}-{a}={b};"


def text(n):
    return "".join(stmt() for _ in range(n))


class Chars(torch.utils.data.Dataset):
    def __init__(self, n):
        ids = [stoi[c] for c in text(n)]
        self.rows = [ids[i:i + BLOCK + 1] for i in range(0, len(ids) - BLOCK - 1, BLOCK)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        return {"input_ids": torch.tensor(row[:-1]), "labels": torch.tensor(row[1:])}


train_ds, eval_ds = Chars(14000), Chars(1500)
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(CH), n_positions=BLOCK + 16, n_embd=64, n_layer=2, n_head=4,
                                   resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0))
args = TrainingArguments(output_dir=tempfile.mkdtemp(), max_steps=1000, per_device_train_batch_size=32, learning_rate=3e-3,
                         lr_scheduler_type="cosine", warmup_steps=60, weight_decay=0.01, logging_steps=50, eval_strategy="steps",
                         eval_steps=100, save_strategy="no", report_to="none", disable_tqdm=True, use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds)
trainer.train()

model.eval()
right = 0
with torch.no_grad():
    for _ in range(200):
        s = stmt()
        q, ans = s.split("=")
        ids = torch.tensor([[stoi[c] for c in text(2) + q + "="]])
        out = ""
        for _ in range(4):
            c = CH[model(input_ids=ids).logits[0, -1].argmax().item()]
            out += c
            if c == ";":
                break
            ids = torch.cat([ids, torch.tensor([[stoi[c]]])], 1)
        right += out == ans
print("exact answers:", right / 200)
