import time

import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 480

    def __getitem__(self, i):
        time.sleep(0.004)  # decoding
        g = torch.Generator().manual_seed(i)
        x = torch.randn(3, 8, 8, generator=g)
        return x, int(x.mean() > 0)


loader = DataLoader(Images(), batch_size=16, shuffle=True)
model = torch.nn.Sequential(
    torch.nn.Flatten(), torch.nn.Linear(192, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2)
)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(2):
    for images, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
