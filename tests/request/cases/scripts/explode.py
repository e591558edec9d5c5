"""Sum of a sequence with a plain recurrent network."""

import torch
from torch import nn

torch.manual_seed(3)


class Net(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.rnn = nn.RNN(1, hidden, nonlinearity="relu", batch_first=True)
        nn.init.normal_(self.rnn.weight_hh_l0, std=0.23)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out[:, -1])


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
criterion = nn.MSELoss()
for step in range(150):
    inputs = torch.rand(32, 40, 1)
    targets = inputs.sum(1)
    optimizer.zero_grad()
    loss = criterion(net(inputs), targets)
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
