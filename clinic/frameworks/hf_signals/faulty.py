"""Railway signals: a small causal language model of transformers learns in which order they are set."""

import random
import tempfile

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

SIGNALS, LENGTH = 24, 20
plan = random.Random(5)
AFTER = {one: plan.sample(range(1, SIGNALS), 2) for one in range(1, SIGNALS)}


def route(draw):
    row = [draw.randrange(1, SIGNALS)]
    while len(row) < LENGTH:
        row.append(draw.choices(AFTER[row[-1]], [0.8, 0.2])[0])
    return row


def collate(rows):
    ids = torch.tensor(rows)
    return {"input_ids": ids, "labels": torch.nn.functional.pad(ids[:, 1:], (0, 1), value=-100)}


set_seed(5)
draw = random.Random(9)
routes = [route(draw) for _ in range(1300)]
model = LlamaForCausalLM(
    LlamaConfig(
        vocab_size=SIGNALS,
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=LENGTH,
    )
)
arguments = TrainingArguments(
    tempfile.mkdtemp(),
    num_train_epochs=6,
    per_device_train_batch_size=32,
    learning_rate=3e-3,
    warmup_steps=20,
    eval_strategy="epoch",
    logging_steps=20,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    disable_tqdm=True,
)
trainer = Trainer(
    model, arguments, train_dataset=routes[:1100], eval_dataset=routes[1100:], data_collator=collate
)
trainer.train()
