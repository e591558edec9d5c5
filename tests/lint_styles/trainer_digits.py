import argparse
import numpy as np
import torch
from torch import nn, optim
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, random_split
from sklearn.preprocessing import StandardScaler
from sklearn.model_selection import train_test_split
from sklearn.datasets import load_diabetes, load_digits

class Digits(Dataset):
    def __init__(self, x, y):
        self.x = torch.tensor(x, dtype=torch.float32)
        self.y = torch.tensor(y)
    def __len__(self): return len(self.x)
    def __getitem__(self, i): return self.x[i], self.y[i]

class ConvNet(nn.Module):
    def __init__(self, hidden=64, p=0.2):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Dropout(p))
        self.head = nn.Linear(hidden, 10)
    def forward(self, x):
        h = self.body(x)
        return self.head(h)

class Trainer:
    def __init__(self, model, args, loaders, device="cpu"):
        self.model = model.to(device)
        self.args = args
        self.train_loader, self.val_loader = loaders
        self.opt = optim.SGD(self.model.parameters(), lr=args.lr, momentum=0.9)
        self.criterion = nn.CrossEntropyLoss()
        self.sched = optim.lr_scheduler.CosineAnnealingLR(self.opt, T_max=args.epochs)
    def train_epoch(self, epoch):
        self.model.train()
        running = 0.0
        for step, (xb, yb) in enumerate(self.train_loader):
            self.opt.zero_grad()
            logits = self.model(xb)
            loss = self.criterion(logits, yb)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            running += loss.item()
        return running / len(self.train_loader)
    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        good = n = 0
        for xb, yb in self.val_loader:
            good += (self.model(xb).argmax(1) == yb).sum().item(); n += len(yb)
        return good / n
    def fit(self):
        for epoch in range(self.args.epochs):
            loss = self.train_epoch(epoch)
            acc = self.evaluate()
            self.sched.step()
            print(epoch, loss, acc)

def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--bs", type=int, default=64)
    args = ap.parse_args()
    X, y = load_digits(return_X_y=True)
    Xtr, Xva, ytr, yva = train_test_split(X, y, test_size=0.2, random_state=0)
    sc = StandardScaler().fit(Xtr)
    Xtr, Xva = sc.transform(Xtr), sc.transform(Xva)
    train_ds, val_ds = Digits(Xtr, ytr), Digits(Xva, yva)
    loaders = DataLoader(train_ds, batch_size=args.bs, shuffle=True), DataLoader(val_ds, batch_size=256)
    Trainer(ConvNet(), args, loaders).fit()

if __name__ == "__main__":
    main()
