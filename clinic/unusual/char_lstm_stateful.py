"""char-rnn, truncated BPTT with carried state. Text: random words under a 3-class grammar -> exact entropy rate per character."""
import numpy as np, torch, torch.nn as nn
rs = np.random.RandomState(31); torch.manual_seed(31)
abc = "abcdefghijkl"
vocab, seen = [], set()
for cls in range(3):
    ws = []
    while len(ws) < 8:
        w = "".join(rs.choice(list(abc), rs.randint(3, 7)))
        if w not in seen: seen.add(w); ws.append(w)
    vocab.append(ws)
pw = 1 / np.arange(1, 9); pw /= pw.sum()
P = np.array([[.1, .8, .1], [.1, .1, .8], [.8, .1, .1]])       # class transitions, stationary = uniform
Hw = -(pw * np.log(pw)).sum() - (P[0] * np.log(P[0])).sum()
mean_len = np.mean([sum(p * (len(w) + 1) for p, w in zip(pw, ws)) for ws in vocab])
RATE = Hw / mean_len

def text(nwords):
    c, out = 0, []
    for _ in range(nwords):
        c = rs.choice(3, p=P[c]); out.append(vocab[c][rs.choice(8, p=pw)])
    return " ".join(out) + " "
stoi = {ch: i for i, ch in enumerate(" " + abc)}
enc = lambda s: torch.tensor([stoi[ch] for ch in s])
B, L = 32, 32
def lanes(ids):
    n = (len(ids) - 1) // B
    return ids[:n * B].view(B, n), ids[1:n * B + 1].view(B, n)
tr_x, tr_y = lanes(enc(text(24000))); va_x, va_y = lanes(enc(text(4000)))
print("train chars", tr_x.numel(), "entropy rate %.4f nats/char" % RATE)

class CharRNN(nn.Module):
    def __init__(self, h=80):
        super().__init__()
        self.emb = nn.Embedding(13, 16); self.rnn = nn.LSTM(16, h, batch_first=True); self.out = nn.Linear(h, 13)
    def forward(self, x, st=None):
        o, st = self.rnn(self.emb(x), st); return self.out(o), st
net = CharRNN(); opt = torch.optim.Adam(net.parameters(), lr=5e-3); lossf = nn.CrossEntropyLoss()
EPOCHS = 4
per = tr_x.size(1) // L
sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.05, EPOCHS * per)
step = 0
for ep in range(EPOCHS):
    st = None; win = []
    for s in range(0, per * L, L):
        x, y = tr_x[:, s:s + L], tr_y[:, s:s + L]
        if st is not None: st = tuple(h.detach() for h in st)
        z, st = net(x, st)
        loss = lossf(z.reshape(-1, 13), y.reshape(-1))
        opt.zero_grad(); loss.backward(); nn.utils.clip_grad_norm_(net.parameters(), 1.0); opt.step(); sched.step()
        win.append(loss.item()); step += 1
        if step % 60 == 0:
            with torch.no_grad():
                net.eval(); v, n, vs = 0., 0, None
                for q in range(0, va_x.size(1) - L, L):
                    zz, vs = net(va_x[:, q:q + L], vs); v += lossf(zz.reshape(-1, 13), va_y[:, q:q + L].reshape(-1)).item(); n += 1
                net.train()
            print("step %4d  train %.4f  valid %.4f nats/char" % (step, np.mean(win[-60:]), v / n))
print("excess over the entropy rate: %.4f" % (v / n - RATE))
