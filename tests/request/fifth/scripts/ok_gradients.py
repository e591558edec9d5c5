"""Three healthy models: words that a batch lacks, batch norm behind biases, a few units that rest."""

import torch
from torch import nn

import traindx

torch.manual_seed(9)
words = torch.randint(0, 500, (128, 6))
topics = nn.Sequential(nn.EmbeddingBag(500, 16), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
print(traindx.gradients(topics, [(words, words[:, 0] % 3)], nn.CrossEntropyLoss()))

pictures = torch.randn(64, 1, 10, 10)
cnn = nn.Sequential(
    nn.Conv2d(1, 8, 3),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.Conv2d(8, 8, 3),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(288, 4),
)
print(traindx.gradients(cnn, [(pictures, torch.arange(64) % 4)], nn.CrossEntropyLoss()))

deep = nn.Sequential()
for _ in range(8):
    deep.extend([nn.Linear(16, 16), nn.LayerNorm(16), nn.GELU()])
deep.append(nn.Linear(16, 2))
x = torch.randn(100, 16)
print(traindx.gradients(deep, [(x, (x[:, 0] > 0).long())], nn.CrossEntropyLoss()))
print("done")
