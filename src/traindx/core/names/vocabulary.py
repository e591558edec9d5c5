"""The words themselves: canonical metrics, splits, scopes, counters and settings with their aliases.

Each table is text: a canonical name, what is known of it, then its aliases; an indented line goes
on with the one above. Aliases are compared without underscores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from traindx.core.nouns import Axis, Goal

SCOPES = ("step", "epoch", "mean", "batch", "bar", "best", "final")
# Split words that are plain adjectives in the middle of a name: `rewards/valid_json_reward`.
ADJECTIVES = frozenset({"valid", "dev", "test"})
# Settings whose value may be a word; all others are numbers or flags.
WORDED_SETTINGS = frozenset(
    {"optimizer", "schedule", "precision", "model", "loss_function", "device", "fp16", "bf16"}
)
# Words that add nothing to what is measured.
FILLERS = frozenset(
    """
    mini all and at average averaged avg cur curr current data final for is mean metric metrics model new
    now num number of on optim optimizer overall per perf performance scalar scalars set stat stats
    subset summary the this total vs was
    """.split()
)

_SPLITS = """
train           train training trn tr learn
val             val valid validation validating validate eval evaluation dev vali va holdout
test            test testing tst predict
"""

_SCOPE_WORDS = """
epoch           epoch epochs
step            step steps iter iteration iterations batch minibatch
mean            running smoothed smooth ema moving smth
best            best
"""

# name, goal, the value below which it cannot be (- when not known), aliases
_METRICS = """
loss            lower   0       loss losses cost objective lm_loss ce ce_loss xent cross_entropy
    crossentropy cross_entropy_loss crossentropyloss nll_loss loss_ce training_error criterion mse_loss
    loss_value trl tel logloss mlogloss
perplexity      lower   1       ppl perplexity pplx perp
bits_per_byte   lower   0       bpb bits_per_byte bpc bits_per_char bpd bits_per_dim
accuracy        higher  -       acc accuracy accuracies acc1 top1 top_1 acc_1 acc_top1 top1_acc
    top1_accuracy top_1_accuracy prec1 prec_1 categorical_accuracy sparse_categorical_accuracy
    binary_accuracy accuracy_score accu token_accuracy token_acc mean_token_accuracy acc_top_1
    classification_accuracy
accuracy/top5   higher  -       acc5 top5 top_5 acc_5 acc_top5 top5_acc top5_accuracy top_5_accuracy
    prec5 prec_5
error           lower   0       err error error_rate err_rate top1_err top1_error
wer             lower   0       wer word_error_rate
cer             lower   0       cer char_error_rate
mse             lower   0       mse mean_squared_error squared_error
rmse            lower   0       rmse root_mean_squared_error
rmsle           lower   0       rmsle msle root_mean_squared_log_error
mape            lower   0       mape smape mean_absolute_percentage_error
mae             lower   0       mae mean_absolute_error l1 l1_error
bce             lower   0       bce
nll             lower   -       nll neg_log_likelihood negative_log_likelihood neg_ll
hinge           lower   0       hinge
triplet         lower   0       triplet
neg_elbo        lower   -       neg_elbo nelbo negative_elbo
neg_si_sdr      lower   -       neg_si_sdr neg_si_snr negative_si_sdr negative_si_snr
score           none    -       score
r2              higher  -       r2 r2_score r_squared explained
hit_rate        higher  -       hit hits hit_rate hr retrieval retrieval_accuracy
ndcg            higher  -       ndcg
mrr             higher  -       mrr mean_reciprocal_rank
precision       higher  -       precision prec precision_b
recall          higher  -       recall sensitivity recall_b
f1              higher  -       f1 f1_score fscore f_score macro_f1 f1_macro micro_f1 f1_micro
auc             higher  -       auc auroc roc_auc roc_auc_score auc_roc
iou             higher  -       iou miou mean_iou jaccard
dice            higher  -       dice dice_score dice_coef dice_coefficient dsc
map50           higher  -       map50 map_50 map_0_5 ap50 map50_b map_0.5
map             higher  -       map map50_95 map_50_95 ap map_0_5_0_95 map_0.5_0.95 map50_95_b
bleu            higher  -       bleu bleu4 sacrebleu
rouge           higher  -       rouge rouge1 rougel rouge_l rougelsum rouge_1
exact_match     higher  -       exact_match em exact exact_answers exact_match_rate
log_likelihood  higher  -       log_likelihood loglikelihood loglik log_lik avg_log_likelihood
    average_log_likelihood mean_log_likelihood log_likelihood_nats average_log_likelihood_nats
psnr            higher  -       psnr
ssim            higher  -       ssim
fid             lower   0       fid
reward          higher  -       reward rewards episode_reward ep_reward ep_rew_mean ep_rew mean_reward
    return returns episode_return episodic_return success_rate
kl              none    0       kl kl_div kl_divergence approx_kl
entropy         none    -       entropy
lr              none    -       lr learning_rate learningrate learn_rate lr_0 lr0 lr_pg0 x_lr0 lr_group0
    lr_group_0 current_lr base_lr lr_abs step_size
grad_norm       none    0       grad_norm gradnorm gnorm gradient_norm norm grad_2_norm
    grad_2.0_norm_total grad_norm_total grad_total_norm total_grad_norm global_grad_norm grad_l2_norm
    gradients_norm total_norm grad
grad_norm_clipped none  0       grad_norm_clipped clipped_grad_norm
grad_zero_share none    0       grad_zero_share
grad_clip_share none    0       clip clip_share clipped clipping_rate
variable_grad_norm none 0       variable_grad_norm
weight_norm     none    0       weight_norm param_norm params_norm parameter_norm wnorm
update_ratio    none    0       update_ratio
activation_zero_share none 0    activation_zero_share
activation_dead_share none 0    activation_dead_share
activation_saturated_share none 0 activation_saturated_share
activation_mean none    -       activation_mean
activation_std  none    0       activation_std
loss_scale      none    -       loss_scale scale grad_scale amp_scale scaler_scale scaler
skipped_steps   none    0       skipped_steps skipped number_of_skipped_iterations skipped_iterations
    num_skipped
nan_steps       none    0       nan_steps number_of_nan_iterations nan_iterations
step_s          none    0       step_s step_time time_per_step batch_cost dt time_per_iteration
    elapsed_time_per_iteration iter_time batch_time sec_per_step s_it s_iter ms_iter ms_step us_step
    s_step sec_it step_avg time
data_wait_s     none    0       data_wait_s reader_cost data_time data_wait data loader_time
    data_loading_time load_time
forward_s       none    0       forward_s forward_time fwd_time
backward_s      none    0       backward_s backward_time bwd_time
optimizer_s     none    0       optimizer_s optimizer_time
epoch_s         none    0       epoch_s time_cost cost_time epoch_time time_taken epoch_duration
    time_elapsed_epoch
tokens_per_s    none    0       tokens_per_s tok_s tok_sec tokens_s tokens_sec tokens_per_second
    tokens_per_sec tok_per_sec words_per_second tps wps tokens_per_gpu
samples_per_s   none    0       samples_per_s samples_per_second samples_sec samples_s img_s imgs_s
    images_s images_sec images_per_second examples_per_second im_s samples_per_sec images_per_sec
    imgs_per_sec img_per_sec examples_per_sec sequences_per_second seqs_per_sec
steps_per_s     none    0       steps_per_s steps_per_second it_sec global_step_sec it_s iter_s its ups
    iterations_per_second batches_per_second steps_s steps_per_sec it_per_sec iter_per_sec
    iters_per_sec iterations_per_sec batches_per_sec
throughput      none    0       throughput tflops gflops tgs
mfu             none    -       mfu hfu
gpu_mem_bytes   none    0       gpu_mem_bytes gpu_memory_bytes memory_bytes mem_bytes max_mem_bytes
    max_memory_bytes cuda_mem_bytes
gpu_mem         none    0       gpu_mem gpu_memory max_mem max_memory memory mem cuda_mem cuda_memory
    mem_reserved vram max_memory_allocated memory_allocated
gpu_busy_share  none    0       gpu_busy_share gpu_util gpu_utilization gpu_busy gpu_load gpu_percent
gpu_mem_share   none    0       gpu_mem_share mem_share memory_share gpu_mem_percent mem_percent mem_util
    gpu_memory_percent gpu_memory_share gpu_memory_util gpu_mem_util memory_percent memory_util vram_percent
rss_bytes       none    0       rss_bytes rss ram cpu_mem process_memory
batch_size      none    0       batch_size bsz global_batch_size bs
tokens          none    0       tokens num_tokens total_tokens num_input_tokens_seen tokens_seen
    consumed_tokens total_training_tokens
samples         none    0       samples consumed_samples samples_seen num_samples
epoch           none    0       epoch epochs ep
elapsed_s       none    0       elapsed_s elapsed time_elapsed elapsed_time runtime wall wall_time
    train_time total_time relative_time
"""

# how well a counter serves as the step (0 best), what it counts, its names
_COUNTERS = """
0               step    total_timesteps timesteps num_timesteps time_total_timesteps time_timesteps
    global_step num_updates update_step train_global_step trainer_global_step total_step global_steps
    step_global
1               step    step steps current_steps current_step iteration iterations iter iters it update
    updates num_update n_iter s _step training_step train_step opt_step total_steps_done itr num_steps
    niter
2               step    batch batch_idx minibatch i batches batch_i mb
3               epoch   epoch epochs ep current_epoch epoch_idx epoch_number train_epoch
4               step    cycle episode episodes timestep round generation consumed_samples index unnamed_0
"""

# short names that say the split and the metric at once
_WHOLE_NAMES = """
trl         train   loss
tel         val     loss
tloss       train   loss
vloss       val     loss
trainloss   train   loss
valloss     val     loss
valacc      val     accuracy
trainacc    train   accuracy
vacc        val     accuracy
testacc     test    accuracy
testloss    test    loss
devloss     val     loss
evalloss    val     loss
evloss      val     loss
|g|         train   grad_norm
||g||       train   grad_norm
|grad|      train   grad_norm
||grad||    train   grad_norm
‖g‖         train   grad_norm
‖grad‖      train   grad_norm
"""

# What a log minimises when it calls nothing a loss, the plainest first.
OBJECTIVES = tuple(
    """
    mse rmse rmsle mae bce nll hinge triplet obj neg_elbo elbo neg_si_sdr bits_per_byte perplexity error
    total
    """.split()
)
# Those that some log with its sign turned, or for something else: they count where they fall.
EITHER_SIGN = frozenset({"elbo", "total"})

_FOREIGN = """
train           训练 訓練 entrenamiento treinamento treino entraînement тренировка обучение
val             验证 検証 검증 validación validacion validação validacao валидация
test            测试
loss            损失 損失 손실 потери потеря pérdida perdida perda verlust perte
accuracy        准确率 正确率 精度 정확도 точность exactitud acurácia acuracia exactitude genauigkeit
lr              学习率 学習率 학습률
epoch           轮次 轮数 エポック 에폭 эпоха época époque epoca epoche época эпохи
time            耗时 用时 tiempo tempo время
avg             平均
step            步数
iter            迭代 iteración iteracion iteração iteracao итерация
batch           批次
grad_norm       梯度范数
"""

_SETTINGS = """
lr              lr learning_rate base_lr initial_lr max_lr peak_lr lr0 init_lr optimizer_lr learn_rate
min_lr          min_lr lr_min final_lr eta_min min_learning_rate
optimizer       optimizer optim optimizer_name opt optimizer_type
batch_size      batch_size per_device_train_batch_size train_batch_size bs micro_batch_size
    device_batch_size batch batchsize batch_size_per_gpu global_batch_size total_batch_size
    total_desired_batch_size per_gpu_train_batch_size
eval_batch_size eval_batch_size per_device_eval_batch_size val_batch_size test_batch_size
accumulation    accumulation gradient_accumulation_steps grad_accum_steps accumulate_grad_batches
    accum_iter gradient_accumulation grad_accum
schedule        schedule lr_scheduler_type lr_scheduler scheduler lr_schedule lr_policy sched
warmup          warmup warmup_steps warmup_epochs num_warmup_steps warmup_iters warmup_iterations
    lr_warmup_steps
warmup_ratio    warmup_ratio warmup_fraction
weight_decay    weight_decay wd l2 lambda_l2 l2_reg weight_decay_rate
momentum        momentum sgd_momentum
beta1           beta1 adam_beta1
beta2           beta2 adam_beta2
eps             eps epsilon adam_epsilon adam_eps
clip            clip grad_clip max_grad_norm gradient_clip_val clip_grad clip_grad_norm
    gradient_clipping grad_clip_norm max_norm clip_norm
epochs          epochs num_train_epochs num_epochs max_epochs n_epochs total_epochs nepochs train_epochs
max_steps       max_steps total_steps num_steps max_iters train_steps num_iterations total_iterations
    max_iter num_training_steps training_steps num_train_steps total_iters
seed            seed random_seed manual_seed torch_seed
dropout         dropout dropout_rate drop_rate p_dropout dropout_p resid_pdrop hidden_dropout_prob
    embd_pdrop attn_dropout attention_dropout
label_smoothing label_smoothing label_smoothing_factor ls_smoothing smoothing
precision       precision mixed_precision dtype torch_dtype amp_dtype compute_dtype
fp16            fp16 half use_fp16 amp use_amp
bf16            bf16 use_bf16
model           model model_name model_type arch architecture model_name_or_path backbone net network
    name_or_path
model_parameters model_parameters num_parameters n_params num_params total_params parameters model_params
    model_parameter_count parameter_count total_parameters number_of_parameters params_count
    model_num_parameters all_params
trainable_parameters trainable_parameters trainable_params num_trainable_params num_trainable_parameters
    n_trainable_params number_of_trainable_parameters learnable_parameters
train_samples   train_samples num_train_samples train_size num_examples n_train dataset_size num_train
    num_training_samples
val_samples     val_samples num_val_samples val_size num_eval_samples n_val test_size
train_tokens    train_tokens dataset_tokens
classes         classes num_classes num_labels n_classes nclass nb_classes nc
vocab_size      vocab_size vocab n_vocab vocabulary_size
layers          layers num_layers n_layer n_layers num_hidden_layers depth nlayers
width           width hidden_size d_model n_embd hidden_dim embed_dim model_dim emb_dim
loss_function   loss_function criterion loss_type loss_fn
workers         workers num_workers dataloader_num_workers
device          device accelerator
world_size      world_size num_gpus n_gpu num_processes
"""


@dataclass(frozen=True)
class Metric:
    """What one canonical metric means."""

    goal: Goal
    floor: float | None
    words: tuple[str, ...]


def _rows(table: str) -> Iterator[list[str]]:
    yield from (line.split() for line in table.replace("\n    ", " ").split("\n") if line)


def _by_word(table: str) -> dict[str, str]:
    return {word: name for name, *words in _rows(table) for word in words}


SPLITS = _by_word(_SPLITS)
SCOPE_WORDS = _by_word(_SCOPE_WORDS)
FOREIGN = _by_word(_FOREIGN)
METRICS = {
    name: Metric(cast("Goal", goal), None if floor == "-" else float(floor), tuple(words))
    for name, goal, floor, *words in _rows(_METRICS)
}
WORDS = {word.replace("_", ""): name for name, metric in METRICS.items() for word in metric.words}
COUNTERS = {
    word: (int(rank), cast("Axis", axis)) for rank, axis, *words in _rows(_COUNTERS) for word in words
}
WHOLE_NAMES = {word: (split, metric) for word, split, metric in _rows(_WHOLE_NAMES)}
SETTINGS = {name: " ".join(words) for name, *words in _rows(_SETTINGS)}
