"""Three folds, each with a new model, a new optimizer and a new loader."""

import torch
import torch.nn as nn
from fingerprint import result
from torch.utils.data import DataLoader, Subset, TensorDataset


def reset_weights(m):
    if hasattr(m, "reset_parameters"):
        m.reset_parameters()


def train_fold(fold, dataset, train_ids, val_ids):
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    model.apply(reset_weights)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(3):
        model.train()
        for x, y in DataLoader(Subset(dataset, train_ids), batch_size=10, shuffle=True):
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            x, y = dataset[val_ids]
            logits = model(x)
            val = criterion(logits, y).item()
        print(f"fold {fold} epoch {epoch + 1} loss {loss.item():.6f} val_loss {val:.6f}")
    return model, optimizer


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.randn(150, 4)
    dataset = TensorDataset(x, (x @ torch.randn(4, 3)).argmax(1))
    order = torch.randperm(150).tolist()
    done = []
    for fold in range(3):
        val_ids = order[fold::3]
        train_ids = [i for i in order if i not in val_ids]
        done += train_fold(fold, dataset, train_ids, val_ids)
    result(done)


main()
