"""Which metrics say how good the answers of a model are."""

from __future__ import annotations

# The higher the better, the usual first.
SCORES = (
    *("accuracy", "map", "map50", "f1", "auc", "iou", "dice", "bleu", "rouge", "r2"),
    *("hit_rate", "ndcg", "mrr", "exact_match", "psnr", "ssim", "log_likelihood"),
)
# Measured on validation data, whatever they are called: as shares of many answers, not one by one.
NEVER_ON_TRAIN = frozenset({"map", "map50", "bleu", "rouge", "hit_rate", "ndcg", "mrr", "exact_match"})
# Errors of the answers themselves, as the loss is not.
ANSWER_ERRORS = ("wer", "cer", "error")
