"""Orders sorted into six desks by a small BERT of transformers."""

import random
import tempfile

import numpy as np
from datasets import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

DESKS, WORDS = 6, 200


def order(draw):
    desk = draw.randrange(DESKS)
    own = range(10 + desk * 20, 30 + desk * 20)
    words = [draw.choice(own) if draw.random() < 0.35 else draw.randrange(130, WORDS) for _ in range(14)]
    return {"input_ids": [1, *words], "labels": desk}


def right(answers):
    return {"accuracy": float(np.mean(answers.predictions.argmax(-1) == answers.label_ids))}


set_seed(3)
draw = random.Random(3)
train, held_out = (Dataset.from_list([order(draw) for _ in range(count)]) for count in (1600, 300))
config = BertConfig(
    vocab_size=WORDS,
    hidden_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=96,
    max_position_embeddings=20,
    num_labels=DESKS,
)
arguments = TrainingArguments(
    tempfile.mkdtemp(),
    num_train_epochs=6,
    per_device_train_batch_size=40,
    learning_rate=0.4,
    eval_strategy="epoch",
    logging_steps=20,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    disable_tqdm=True,
)
trainer = Trainer(
    BertForSequenceClassification(config),
    arguments,
    train_dataset=train,
    eval_dataset=held_out,
    compute_metrics=right,
)
trainer.train()
