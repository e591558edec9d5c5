"""A real transformers Trainer over a tiny GPT-2, with accumulation, clipping and evaluation."""

import hashlib

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed


class Words(Dataset):
    def __init__(self, n):
        self.ids = torch.arange(n * 16).view(n, 16) * 7 % 50

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.ids[index]}


def main():
    set_seed(0)
    torch.set_num_threads(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=16, n_embd=32, n_layer=2, n_head=2))
    args = TrainingArguments(
        output_dir="hf",
        max_steps=20,
        per_device_train_batch_size=4,
        gradient_accumulation_steps=2,
        learning_rate=5e-3,
        logging_steps=1,
        eval_strategy="steps",
        eval_steps=10,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model, args, train_dataset=Words(64), eval_dataset=Words(16))
    trainer.train()
    for entry in trainer.state.log_history:
        kept = {
            key: entry[key]
            for key in ("step", "loss", "grad_norm", "learning_rate", "eval_loss")
            if key in entry
        }
        print(kept)
    digest = hashlib.sha256(b"".join(v.numpy().tobytes() for v in model.state_dict().values()))
    print("RESULT", digest.hexdigest(), hashlib.sha256(torch.get_rng_state().numpy()).hexdigest()[:16])


if __name__ == "__main__":
    main()
