"""Reinforcement learning and adversaries: losses that say little."""

from __future__ import annotations

import numpy as np

from .formats import level, lines, rng, rough, table, text, wander


def write() -> None:
    r = rng("sb3 ppo")
    n = 64
    t = np.arange(n)
    reward = 2600 / (1 + np.exp(-(t - 23) / 7)) - 150 + wander(r, n, 90, 0.6)
    table(
        "ok_ppo_progress.csv",
        {
            "time/total_timesteps": (t + 1) * 2048,
            "rollout/ep_rew_mean": reward,
            "train/value_loss": rough(r, 20 + 0.09 * np.maximum(reward, 0), 0.4),
            "train/policy_gradient_loss": -0.006 + 0.003 * r.standard_normal(n),
            "train/entropy_loss": -4.2 + 2.1 * t / n + 0.03 * r.standard_normal(n),
            "train/approx_kl": level(r, n, 0.009, 0.3),
            "train/explained_variance": np.clip(
                0.94 - 0.9 * np.exp(-t / 15) + 0.02 * r.standard_normal(n), -1, 1
            ),
        },
    )

    r = rng("dqn")
    n = 52
    t = np.arange(n)
    score = 310 * (1 - np.exp(-np.maximum(0, t - 6) / 16)) + 2 + wander(r, n, 22, 0.4)
    q = 9.5 * (1 - np.exp(-t / 15))
    text(
        "ok_dqn.txt",
        [
            f"Episode {20 * (i + 1)}\tAverage Score: {max(0.5, score[i]):.2f}\tmean_q: {q[i]:.3f}\tloss: {(0.004 + 0.0032 * q[i]) * np.exp(0.25 * r.standard_normal()):.5f}\teps: {max(0.02, 1 - i / 18):.3f}"
            for i in range(n)
        ],
    )

    r = rng("sac")
    n = 50
    t = np.arange(n)
    ret = 9200 * (1 - np.exp(-t / 17)) - 200 + wander(r, n, 320, 0.4)
    lines(
        "ok_sac.jsonl",
        {
            "env_steps": (t + 1) * 5000,
            "actor_loss": -420 * (1 - np.exp(-t / 50)) - 3 + 4 * r.standard_normal(n),
            "critic_loss": rough(r, 6 + 60 * (1 - np.exp(-t / 30)), 0.25),
            "alpha": 0.05 + 0.9 * np.exp(-t / 6),
            "eval/return": ret,
        },
    )

    r = rng("policy swings")
    n = 70
    t = np.arange(n)
    win = 0.5 + 0.04 * np.sin(t / 6.0) + 0.03 * r.standard_normal(n)
    table(
        "ok_self_play.csv",
        {
            "iteration": t,
            "policy_loss": rough(r, 3.9 - 1.5 * (1 - np.exp(-t / 30)), 0.02),
            "value_loss": rough(r, 0.98 - 0.4 * (1 - np.exp(-t / 30)), 0.03),
            "win_rate_vs_previous": win,
            "elo": 1900 * (1 - np.exp(-t / 45)) + 20 * r.standard_normal(n),
        },
    )

    r = rng("dcgan")
    n = 54
    out = []
    for i in range(n):
        d, g = 0.62 * np.exp(0.35 * r.standard_normal()), 2.4 * np.exp(0.35 * r.standard_normal())
        if i < 4:
            d, g = [1.72, 0.9, 0.31, 0.52][i], [5.1, 9.4, 6.2, 4.1][i]
        x, z = (
            np.clip(0.76 + 0.09 * r.standard_normal(), 0, 1),
            np.clip(0.22 + 0.07 * r.standard_normal(), 0.01, 1),
        )
        out.append(
            f"[{i // 11}/5][{144 * (i % 11)}/1583]\tLoss_D: {d:.4f}\tLoss_G: {g:.4f}\tD(x): {x:.4f}\tD(G(z)): {z:.4f} / {z / 2.2:.4f}"
        )
    text("ok_dcgan.txt", "Starting Training Loop...", out)

    r = rng("wgan")
    n = 64
    t = np.arange(n)
    table(
        "ok_wgan_gp.csv",
        {
            "gen_iter": t * 500,
            "critic_loss": -(3.1 + 21 * np.exp(-t / 18)) + 0.35 * r.standard_normal(n),
            "gen_loss": 2.0 + wander(r, n, 4.5, 0.9),
            "gradient_penalty": level(r, n, 0.21, 0.2),
            "fid": 19 + 180 * np.exp(-t / 28) + 1.1 * r.standard_normal(n),
        },
    )

    # ------------------------------------------------------------------------------- what went wrong
    r = rng("gan lost")
    n = 48
    t = np.arange(n)
    good = 1 / (1 + np.exp((t - 18) / 2))
    out = [
        f"[Epoch {i // 5}/10] [Batch {160 * (i % 5)}/800] [D loss: {max(1e-6, (0.64 * good[i] + 0.0004 * (1 - good[i])) * np.exp(0.3 * r.standard_normal())):.6f}] [G loss: {(1.1 * good[i] + (1 - good[i]) * (9.5 + 0.03 * (i - 18))) * np.exp(0.06 * r.standard_normal()):.6f}] [D(fake): {max(1e-6, 0.41 * good[i]):.5f}]"
        for i in range(n)
    ]
    text("gan_lost.txt", "dcgan celeba64 adam lr_d=2e-4 lr_g=2e-4 beta1=0.5 batch 128", out)

    r = rng("policy collapsed")
    n = 80
    t = np.arange(n)
    up = 2400 * (1 - np.exp(-t / 14))
    reward = np.where(t < 48, up, 2310 * np.exp(-(t - 48) / 3) + 60) + wander(r, n, 70, 0.5)
    kl = level(r, n, 0.011, 0.3)
    kl[44:56] = [0.05, 0.11, 0.4, 0.92, 1.7, 2.2, 1.1, 0.6, 0.4, 0.2, 0.1, 0.06]
    table(
        "policy_collapsed.csv",
        {
            "timesteps": (t + 1) * 4096,
            "ep_rew_mean": reward,
            "approx_kl": kl,
            "entropy": np.where(t < 46, 2.8 - 1.2 * t / 46, 0.05) + 0.01 * np.abs(r.standard_normal(n)),
            "value_loss": np.where(t < 46, 60.0, 900.0) * np.exp(0.3 * r.standard_normal(n)),
            "lr": [1e-3] * n,
        },
    )
