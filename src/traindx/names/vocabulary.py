"""The words themselves: canonical metrics, splits, scopes, counters and settings with their aliases."""

from __future__ import annotations

from dataclasses import dataclass

from traindx.core import Axis, Goal

SCOPES = ("step", "epoch", "mean", "batch", "bar", "best", "final")
SPLITS = {
    **dict.fromkeys(("train", "training", "trn", "tr", "learn"), "train"),
    **dict.fromkeys(
        ("val", "valid", "validation", "validating", "validate", "eval", "evaluation", "dev", "vali", "holdout"), "val"
    ),
    **dict.fromkeys(("test", "testing", "tst", "predict"), "test"),
}
# Split words that are plain adjectives in the middle of a name: `rewards/valid_json_reward`.
ADJECTIVES = frozenset({"valid", "dev", "test"})
SCOPE_WORDS = {
    **dict.fromkeys(("epoch", "epochs"), "epoch"),
    **dict.fromkeys(("step", "steps", "iter", "iteration", "iterations", "batch", "minibatch"), "step"),
    **dict.fromkeys(("running", "smoothed", "smooth", "ema", "moving", "smth"), "mean"),
    **dict.fromkeys(("best",), "best"),
}
FILLERS = frozenset(
    "avg average averaged mean total overall current cur curr final is the number num of on at was for now this new per "
    "and vs metrics metric scalar scalars stats stat performance perf all optim optimizer summary set data subset model".split()
)


@dataclass(frozen=True)
class Metric:
    """What one canonical metric means."""

    goal: Goal
    floor: float | None
    words: tuple[str, ...]


def _m(goal: Goal, floor: float | None, words: str) -> Metric:
    return Metric(goal, floor, tuple(words.split()))


# `words` are whole names after splits, scopes and fillers are taken away, joined by `_`.
METRICS: dict[str, Metric] = {
    "loss": _m(
        "lower", 0.0,
        "loss losses cost objective lm_loss ce ce_loss xent cross_entropy crossentropy cross_entropy_loss crossentropyloss "
        "nll_loss loss_ce training_error criterion mse_loss loss_value trl tel logloss mlogloss",
    ),
    "perplexity": _m("lower", 1.0, "ppl perplexity pplx"),
    "bits_per_byte": _m("lower", 0.0, "bpb bits_per_byte bpc bits_per_char bpd bits_per_dim"),
    "accuracy": _m(
        "higher", None,
        "acc accuracy accuracies acc1 top1 top_1 acc_1 acc_top1 top1_acc top1_accuracy top_1_accuracy prec1 prec_1 "
        "categorical_accuracy sparse_categorical_accuracy binary_accuracy accuracy_score accu token_accuracy token_acc "
        "mean_token_accuracy acc_top_1 classification_accuracy",
    ),
    "accuracy/top5": _m("higher", None, "acc5 top5 top_5 acc_5 acc_top5 top5_acc top5_accuracy top_5_accuracy prec5 prec_5"),
    "error": _m("lower", 0.0, "err error error_rate err_rate top1_err top1_error"),
    "wer": _m("lower", 0.0, "wer word_error_rate"),
    "cer": _m("lower", 0.0, "cer char_error_rate"),
    "mse": _m("lower", 0.0, "mse mean_squared_error squared_error"),
    "rmse": _m("lower", 0.0, "rmse root_mean_squared_error"),
    "mae": _m("lower", 0.0, "mae mean_absolute_error l1 l1_error"),
    "score": _m("none", None, "score"),
    "r2": _m("higher", None, "r2 r2_score r_squared"),
    "precision": _m("higher", None, "precision prec precision_b"),
    "recall": _m("higher", None, "recall sensitivity recall_b"),
    "f1": _m("higher", None, "f1 f1_score fscore f_score macro_f1 f1_macro micro_f1 f1_micro"),
    "auc": _m("higher", None, "auc auroc roc_auc roc_auc_score auc_roc"),
    "iou": _m("higher", None, "iou miou mean_iou jaccard"),
    "dice": _m("higher", None, "dice dice_score dice_coef dice_coefficient dsc"),
    "map50": _m("higher", None, "map50 map_50 map_0_5 ap50 map50_b map_0.5"),
    "map": _m("higher", None, "map map50_95 map_50_95 ap map_0_5_0_95 map_0.5_0.95 map50_95_b"),
    "bleu": _m("higher", None, "bleu bleu4 sacrebleu"),
    "rouge": _m("higher", None, "rouge rouge1 rougel rouge_l rougelsum rouge_1"),
    "psnr": _m("higher", None, "psnr"),
    "ssim": _m("higher", None, "ssim"),
    "fid": _m("lower", 0.0, "fid"),
    "reward": _m("higher", None, "reward rewards episode_reward ep_reward ep_rew_mean ep_rew mean_reward return returns episode_return episodic_return"),
    "kl": _m("none", 0.0, "kl kl_div kl_divergence approx_kl"),
    "entropy": _m("none", None, "entropy"),
    "lr": _m("none", None, "lr learning_rate learningrate learn_rate lr_0 lr0 lr_pg0 x_lr0 lr_group0 lr_group_0 current_lr base_lr lr_abs step_size"),
    "grad_norm": _m(
        "none", 0.0,
        "grad_norm gradnorm gnorm gradient_norm norm grad_2_norm grad_2.0_norm_total grad_norm_total grad_total_norm total_grad_norm "
        "global_grad_norm grad_l2_norm gradients_norm total_norm grad",
    ),
    "grad_clip_share": _m("none", 0.0, "clip clip_share clip_fraction clipped clipping_rate"),
    "weight_norm": _m("none", 0.0, "weight_norm param_norm params_norm parameter_norm wnorm"),
    "loss_scale": _m("none", None, "loss_scale scale grad_scale amp_scale scaler_scale scaler"),
    "skipped_steps": _m("none", 0.0, "skipped_steps skipped number_of_skipped_iterations skipped_iterations num_skipped"),
    "nan_steps": _m("none", 0.0, "nan_steps number_of_nan_iterations nan_iterations"),
    "step_s": _m("none", 0.0, "step_s step_time time_per_step batch_cost dt time_per_iteration elapsed_time_per_iteration iter_time batch_time sec_per_step s_it s_iter ms_iter ms_step us_step s_step sec_it step_avg time"),
    "data_wait_s": _m("none", 0.0, "data_wait_s reader_cost data_time data_wait data loader_time data_loading_time load_time"),
    "epoch_s": _m("none", 0.0, "epoch_s time_cost cost_time epoch_time time_taken epoch_duration time_elapsed_epoch"),
    "tokens_per_s": _m("none", 0.0, "tokens_per_s tok_s tok_sec tokens_s tokens_sec tokens_per_second tokens_per_sec tps wps tokens_per_gpu"),
    "samples_per_s": _m("none", 0.0, "samples_per_s samples_per_second samples_sec samples_s img_s imgs_s images_s images_sec images_per_second examples_per_second im_s"),
    "steps_per_s": _m("none", 0.0, "steps_per_s steps_per_second it_sec global_step_sec it_s iter_s its ups iterations_per_second batches_per_second steps_s"),
    "throughput": _m("none", 0.0, "throughput tflops gflops tgs"),
    "mfu": _m("none", None, "mfu hfu"),
    "gpu_mem_bytes": _m("none", 0.0, "gpu_mem_bytes gpu_memory_bytes memory_bytes mem_bytes max_mem_bytes max_memory_bytes cuda_mem_bytes"),
    "gpu_mem": _m("none", 0.0, "gpu_mem gpu_memory max_mem max_memory memory mem cuda_mem cuda_memory mem_reserved vram"),
    "gpu_util": _m("none", 0.0, "gpu_util gpu_utilization"),
    "rss_bytes": _m("none", 0.0, "rss_bytes rss ram cpu_mem process_memory"),
    "batch_size": _m("none", 0.0, "batch_size bsz global_batch_size bs"),
    "tokens": _m("none", 0.0, "tokens num_tokens total_tokens num_input_tokens_seen tokens_seen consumed_tokens total_training_tokens"),
    "samples": _m("none", 0.0, "samples consumed_samples samples_seen num_samples"),
    "epoch": _m("none", 0.0, "epoch epochs ep"),
    "elapsed_s": _m("none", 0.0, "elapsed_s elapsed time_elapsed elapsed_time runtime wall wall_time train_time total_time relative_time"),
}
WORDS = {word.replace("_", ""): name for name, metric in METRICS.items() for word in metric.words}

COUNTERS: dict[str, tuple[int, Axis]] = {
    **{n: (0, "step") for n in ("total_timesteps", "timesteps", "num_timesteps", "time_total_timesteps", "time_timesteps", "global_step", "num_updates", "update_step", "train_global_step", "trainer_global_step", "total_step", "global_steps", "step_global")},
    **{n: (1, "step") for n in ("step", "steps", "current_steps", "current_step", "iteration", "iterations", "iter", "iters", "it", "update", "updates", "num_update", "n_iter", "s", "_step", "training_step", "train_step", "opt_step", "total_steps_done", "itr", "num_steps", "niter")},
    **{n: (2, "step") for n in ("batch", "batch_idx", "minibatch", "i", "batches", "batch_i", "mb")},
    **{n: (3, "epoch") for n in ("epoch", "epochs", "ep", "current_epoch", "epoch_idx", "epoch_number", "train_epoch")},
    **{n: (4, "step") for n in ("episode", "episodes", "timestep", "round", "generation", "consumed_samples", "index", "unnamed_0")},
}

FOREIGN = {
    "训练": "train", "验证": "val", "测试": "test", "损失": "loss", "准确率": "accuracy", "正确率": "accuracy", "精度": "accuracy",
    "学习率": "lr", "轮次": "epoch", "轮数": "epoch", "耗时": "time", "用时": "time", "平均": "avg", "步数": "step", "迭代": "iter", "批次": "batch", "梯度范数": "grad_norm",
    "損失": "loss", "検証": "val", "訓練": "train", "学習率": "lr", "エポック": "epoch", "손실": "loss", "정확도": "accuracy", "검증": "val", "학습률": "lr", "에폭": "epoch",
    "потери": "loss", "потеря": "loss", "точность": "accuracy", "эпоха": "epoch", "pérdida": "loss", "época": "epoch", "époque": "epoch",
}

WHOLE_NAMES = {"trl": ("train", "loss"), "tel": ("val", "loss"), "tloss": ("train", "loss"), "vloss": ("val", "loss"), "trainloss": ("train", "loss"),
                  "valloss": ("val", "loss"), "valacc": ("val", "accuracy"), "trainacc": ("train", "accuracy"), "vacc": ("val", "accuracy"), "testacc": ("test", "accuracy"), "testloss": ("test", "loss")}

SETTINGS: dict[str, str] = {
    "lr": "lr learning_rate base_lr initial_lr max_lr peak_lr lr0 init_lr optimizer_lr learn_rate",
    "min_lr": "min_lr lr_min final_lr eta_min min_learning_rate",
    "optimizer": "optimizer optim optimizer_name opt optimizer_type",
    "batch_size": "batch_size per_device_train_batch_size train_batch_size bs micro_batch_size device_batch_size batch batchsize batch_size_per_gpu global_batch_size total_batch_size total_desired_batch_size per_gpu_train_batch_size",
    "eval_batch_size": "eval_batch_size per_device_eval_batch_size val_batch_size test_batch_size",
    "accumulation": "accumulation gradient_accumulation_steps grad_accum_steps accumulate_grad_batches accum_iter gradient_accumulation grad_accum",
    "schedule": "schedule lr_scheduler_type lr_scheduler scheduler lr_schedule lr_policy sched",
    "warmup": "warmup warmup_steps warmup_epochs num_warmup_steps warmup_iters warmup_iterations lr_warmup_steps",
    "warmup_ratio": "warmup_ratio warmup_fraction",
    "weight_decay": "weight_decay wd l2 lambda_l2 l2_reg weight_decay_rate",
    "momentum": "momentum sgd_momentum",
    "beta1": "beta1 adam_beta1",
    "beta2": "beta2 adam_beta2",
    "eps": "eps epsilon adam_epsilon adam_eps",
    "clip": "clip grad_clip max_grad_norm gradient_clip_val clip_grad clip_grad_norm gradient_clipping grad_clip_norm max_norm clip_norm",
    "epochs": "epochs num_train_epochs num_epochs max_epochs n_epochs total_epochs nepochs train_epochs",
    "max_steps": "max_steps total_steps num_steps max_iters train_steps num_iterations total_iterations max_iter num_training_steps training_steps num_train_steps total_iters",
    "seed": "seed random_seed manual_seed torch_seed",
    "dropout": "dropout dropout_rate drop_rate p_dropout dropout_p resid_pdrop hidden_dropout_prob embd_pdrop attn_dropout attention_dropout",
    "label_smoothing": "label_smoothing label_smoothing_factor ls_smoothing smoothing",
    "precision": "precision mixed_precision dtype torch_dtype amp_dtype compute_dtype",
    "fp16": "fp16 half use_fp16 amp use_amp",
    "bf16": "bf16 use_bf16",
    "model": "model model_name model_type arch architecture model_name_or_path backbone net network name_or_path",
    "model_parameters": "model_parameters num_parameters n_params num_params total_params parameters model_params trainable_params trainable_parameters model_parameter_count parameter_count total_parameters number_of_parameters params_count model_num_parameters",
    "train_samples": "train_samples num_train_samples train_size num_examples n_train dataset_size num_train num_training_samples",
    "val_samples": "val_samples num_val_samples val_size num_eval_samples n_val test_size",
    "train_tokens": "train_tokens dataset_tokens",
    "classes": "classes num_classes num_labels n_classes nclass nb_classes nc",
    "vocab_size": "vocab_size vocab n_vocab vocabulary_size",
    "layers": "layers num_layers n_layer n_layers num_hidden_layers depth nlayers",
    "width": "width hidden_size d_model n_embd hidden_dim embed_dim model_dim emb_dim",
    "loss_function": "loss_function criterion loss_type loss_fn",
    "workers": "workers num_workers dataloader_num_workers",
    "device": "device accelerator",
    "world_size": "world_size num_gpus n_gpu num_processes",
}
# Settings whose value may be a word; all others are numbers or flags.
WORDED_SETTINGS = frozenset({"optimizer", "schedule", "precision", "model", "loss_function", "device", "fp16", "bf16"})
