# cause: lr_too_high
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

import lightning as L
class Lit(L.LightningModule):
    def __init__(self, rate=3.0):  # here
        super().__init__()
        self.save_hyperparameters()
        self.rate = rate
        self.net = nn.Linear(8, 3)
    def training_step(self, batch, i):
        x, y = batch
        return F.cross_entropy(self.net(x), y)
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.rate)
X, Y = torch.randn(500, 8), torch.randint(0, 3, (500,))
loader = DataLoader(TensorDataset(X, Y), batch_size=25, shuffle=True)
L.Trainer(max_epochs=2).fit(Lit(), loader)
