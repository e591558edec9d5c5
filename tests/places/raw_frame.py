# cause: unnormalised_inputs
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

import pandas as pd
df = pd.read_csv("houses.csv")
features = df[["area", "year", "price_per_m2"]].to_numpy()  # here
target = df["price"].to_numpy()
X_train = torch.tensor(features[:800], dtype=torch.float32)
y_train = torch.tensor(target[:800], dtype=torch.float32)
loader = DataLoader(TensorDataset(X_train, y_train), batch_size=32, shuffle=True)
model = nn.Linear(3, 1)
criterion = nn.MSELoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
