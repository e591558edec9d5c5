"""Tiny BERT from scratch: does the verb agree with its (possibly distant) subject?"""
import random
import tempfile

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(13)
SUBJ = {"sg": ["dog", "girl", "judge", "boat"], "pl": ["dogs", "girls", "judges", "boats"]}
VERB = {"sg": ["runs", "sees", "waits"], "pl": ["run", "see", "wait"]}
ADJ = ["old", "red", "tall", "odd", "new"]
PREP = ["near", "behind", "with"]


def phrase(num):
    return ["the"] + random.sample(ADJ, random.choice([0, 0, 1, 2])) + [random.choice(SUBJ[num])]


def example():
    num = random.choice(["sg", "pl"])
    s = phrase(num)
    for _ in range(random.choice([0, 0, 1, 1, 2])):
        s += [random.choice(PREP)] + phrase(random.choice(["sg", "pl"]))
    ok = random.random() < .5
    s.append(random.choice(VERB[num if ok else {"sg": "pl", "pl": "sg"}[num]]))
    if random.random() < .03:
        ok = not ok
    return s, int(ok)


words = sorted({*sum(SUBJ.values(), []), *sum(VERB.values(), []), *ADJ, *PREP, "the"})
vocab = {w: i + 2 for i, w in enumerate(words)}
MAX = 20


def encode(s, y):
    ids = [1] + [vocab[w] for w in s][:MAX - 1]
    pad = MAX - len(ids)
    return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad, "labels": y}


train = [encode(*example()) for _ in range(6000)]
evals = [encode(*example()) for _ in range(800)]

config = BertConfig(vocab_size=len(vocab) + 2, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=MAX, num_labels=2)
model = BertForSequenceClassification(config)


def metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, 1) == p.label_ids).mean())}


args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    num_train_epochs=8,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=200,
    learning_rate=1e-3,
    warmup_steps=20000,
    lr_scheduler_type="linear",
    eval_strategy="epoch",
    logging_steps=50,
    save_strategy="no",
    report_to=[],
    disable_tqdm=True,
    use_cpu=True,
    seed=13,
)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=evals, compute_metrics=metrics)
trainer.train()
print("eval accuracy:", trainer.evaluate()["eval_accuracy"])
