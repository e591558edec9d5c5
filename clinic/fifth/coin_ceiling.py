"""HF Trainer, tiny DistilBERT from scratch. Raters agree with the rule only 70 % of the time."""
import random
import tempfile
import numpy as np
import transformers
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments

transformers.set_seed(64)
A, B = list(range(4, 16)), list(range(16, 28))
FILL = list(range(28, 60))


def row():
    rule = random.random() < .5
    seq = random.choices(FILL, k=random.randint(8, 14))
    i, j = sorted(random.sample(range(len(seq)), 2))
    seq[i], seq[j] = (random.choice(A), random.choice(B)) if rule else (random.choice(B), random.choice(A))
    label = int(rule) if random.random() < .7 else 1 - int(rule)
    pad = 15 - len(seq)
    return {"input_ids": [1] + seq + [0] * pad, "attention_mask": [1] * (len(seq) + 1) + [0] * pad, "labels": label, "rule": int(rule)}


train = [row() for _ in range(14000)]
evals = [row() for _ in range(1500)]
strip = lambda rows: [{k: v for k, v in r.items() if k != "rule"} for r in rows]

cfg = DistilBertConfig(vocab_size=60, dim=48, hidden_dim=96, n_layers=2, n_heads=4, max_position_embeddings=16,
                       num_labels=2, dropout=0.1, attention_dropout=0.0, seq_classif_dropout=0.1)
trainer = Trainer(
    model=DistilBertForSequenceClassification(cfg),
    args=TrainingArguments(tempfile.mkdtemp(), num_train_epochs=5, per_device_train_batch_size=32, per_device_eval_batch_size=250,
                           learning_rate=7e-4, warmup_steps=100, lr_scheduler_type="cosine", logging_steps=40,
                           eval_strategy="steps", eval_steps=200, save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True),
    train_dataset=strip(train), eval_dataset=strip(evals),
    compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(1) == p.label_ids).mean())},
)
trainer.train()
pred = trainer.predict(strip(evals)).predictions.argmax(1)
print("agreement with raters %.4f, agreement with the rule itself %.4f" % (
    np.mean(pred == np.array([r["labels"] for r in evals])), np.mean(pred == np.array([r["rule"] for r in evals]))))
