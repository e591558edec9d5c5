# cause: unnormalised_inputs
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

class Table(Dataset):
    def __init__(self, n):
        income = np.random.lognormal(10, 1, n)
        age = np.random.uniform(18, 80, n)
        self.rows = torch.tensor(np.column_stack([income, age]), dtype=torch.float32)  # here
        self.label = torch.tensor((age > 50).astype("int64"))
    def __len__(self): return len(self.label)
    def __getitem__(self, i): return self.rows[i], self.label[i]
loader = DataLoader(Table(1000), batch_size=32, shuffle=True)
model = nn.Linear(2, 2)
criterion = nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
