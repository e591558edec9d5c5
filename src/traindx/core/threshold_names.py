"""Thresholds that once had other names: settings files written before keep working, and a line says so."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from traindx.core.settings import Threshold

# In every detector that has a threshold of the new name and none of the old.
_EVERYWHERE = {
    "points": "min_points",
    "looks": "min_samples",
    "z": "z_score",
    "p": "p_value",
    "full": "full_strength_at",
}
_DROPPED = frozenset(
    """
    script_lr_high script_lr_low script_momentum_odd script_weight_decay_high script_clip_tight
    """.split()
)
_OLD_NAMES = """
accumulation_discarded: steps=min_steps mostly=step_share
accumulation_undivided: steps=min_steps mostly=step_share whole=undivided_share
accuracy_at_chance: near=chance_tolerance fall=max_loss_fall least=min_points
accuracy_at_majority: same=equal_share fall=max_loss_fall least=min_points entropy=entropy_tolerance
accuracy_below_chance: below=chance_share fall=max_loss_fall many=max_classes
accuracy_low_on_train: reached=reached_share gain=min_gain least=min_points
adam_with_l2: least=min_weight_decay
attention_by_sgd: most=max_update_ratio left=loss_left bend=curve_bend
batch_norm_tiny_batch: most=max_batch_size few=defect_batch_size
batch_repeated: share=repeat_share batches=min_loader_batches
classes_as_numbers: fewest=min_classes most=max_classes even=evenness
classes_unequal: share=largest_share times=times_the_others most=max_classes targets=min_targets
clipping_starves: kept=kept_share most=max_update_ratio least=min_unclipped_ratio bend=curve_bend
config_batch_large: share=data_share samples=large_batch beyond_samples=token_batch
config_batch_tiny: most=max_batch_size unknown_accumulation=strength_if_accumulation_unknown
config_deep_model: plain=plain_layers transformer=transformer_layers saturating=saturating_layers
config_dropout_high: most=max_dropout
config_half_precision: mixed=mixed_strength
config_lr_high: adaptive=adam adapter=adam_on_adapters tuned=adam_on_pretrained large=large_rate_optimizers
  unknown=unknown_optimizer
config_lr_low: adaptive=adam sgd_tuned=sgd_on_pretrained unknown=unknown_optimizer
  tuned_factor=pretrained_factor
config_model_exceeds_data: per_sample=parameters_per_sample full=full_strength_per_sample
  per_token=parameters_per_token
config_momentum_odd: momentum_most=max_momentum beta1_most=max_beta1 beta2_least=min_beta2
  beta2_most=max_beta2 eps_least=min_eps eps_most=max_eps reach=step_reach
config_no_clipping: never=clip_without_effect
config_no_regularisation: least=none_below
config_plain_sgd: unnamed=strength_if_unnamed
config_warmup_exceeds_run: share=warmup_share
config_weight_decay_high: decoupled=adamw coupled=coupled_optimizers
critic_wins: nothing=critic_loss_gone grown=generator_growth little=critic_loss_small
  far=generator_growth_large
data_wait: share=wait_share large=full_strength_at mostly=quantile brief=min_seconds
  with_workers=min_seconds_with_workers total=min_total_seconds
decay_dominates: coupled=coupled_ratio apart=decoupled_ratio shrink=weight_shrink high=loss_left
double_descent: rise=rise_share near=best_tolerance least=min_points
dropout_drowns: strong=min_dropout left=loss_left alone=loss_left_unvalidated
ended_by_error: went_on=later_run_share
ends_improving: steady=falling_evaluations share=min_fall lowered=lr_lowered_share least=min_points
entropy_collapses: gone=left_share
epoch_staircase: boundaries=min_boundaries dense=points_per_epoch drop=min_drop most=boundaries_with_drop
epsilon_swamps: most=epsilon_to_gradient usual=usual_epsilon
feature_tells_all: alone=score_alone perfect=certain_score times=error_ratio told=min_score_of_others
  samples=min_data_samples
grad_all_clipped: share=clipped_share
grad_explodes: alone=factor_without_harm harm=min_harm
grad_nonfinite: share=bad_share streak=bad_streak
grad_norm_grows: large=large_factor harm=min_harm
grad_vanishes: fall=fall_factor of_loss=norm_to_loss still_high=loss_left
gradients_agree: same=min_cosine
gradients_cut: ratio=fade_ratio order=rank_correlation layers=min_layers
gradients_noisy: near=max_cosine least=min_cosine_for_scale
gradients_not_zeroed: growth=norm_growth
gradients_turn: turn=max_cosine
high_without_gap: made=progress_made left=loss_left gap=max_gap flat=max_slope least=min_loss_points
host_work: share=other_share large=large_share brief=min_seconds long=long_seconds mostly=quantile
init_scale_off: low=product_low stuck=product_low_if_stuck high=product_high normed=gain_high_if_normalised
input_outliers: beyond=times_usual
inputs_constant: most=equal_batches_share dull=constant_features_share
inputs_unscaled: size=min_rms extreme=extreme_rms ratio=min_scale_ratio extreme_ratio=extreme_scale_ratio
  offset=mean_to_std
kl_collapses: gone=left_share small=small_kl
labels_change: share=changed_share again=min_repeats features=min_features twice=max_duplicates_share
labels_in_order: pure=top_class_share batch=min_batch_size narrow=target_spread_share
labels_odd: least=min_odd_share most=max_odd_share together=max_clustering gain=min_neighbour_gain
  mutual=min_mutual_agreement clear=clear_mutual_agreement line=linear_model_margin samples=min_data_samples
labels_unrelated: linked=max_linear_z gain=max_gain samples=min_data_samples most=max_chance_level
  above=validation_margin
layer_gradients_fade: ratio=fade_ratio layers=min_layers order=rank_correlation
layer_gradients_surge: ratio=growth_ratio layers=min_layers order=rank_correlation
layer_too_narrow: width=max_width steps=min_steps
layers_squashing: layers=min_layers
layers_without_activation: layers=min_layers
logits_as_probabilities: above=above_zero
loss_at_chance: tolerance=chance_tolerance flat=max_fall steps=min_steps
loss_at_softmax_floor: near=floor_tolerance tight=tight_tolerance flat=max_change right=min_accuracy
loss_creeps: most=max_fall least=min_fall steady=third_share
loss_diverges: ratio=rise_ratio quick=max_width few=few_points
loss_drifts_up: ratio=rise_ratio lost=lost_share quick=quick_width
loss_flat: least=min_fall blur=max_noise clear=clear_noise steps=min_steps
loss_frozen: share=frozen_share digits=min_digits
loss_jumps_to_chance: tolerance=chance_tolerance below=best_below share=last_share
loss_leaps_early: factor=leap_factor large=large_factor
loss_masked_nan: least=min_zeros fall=fell_below
loss_negated: off=tolerance
loss_nonfinite: few=few_share
loss_runs_negative: size=min_size growth=growth_factor
loss_scale_collapse: bottom=low_scale once=high_scale
loss_spikes: ratio=spike_ratio large=large_ratio size=large_share_of_start
loss_spikes_recurring: ratio=spike_ratio many=min_spikes large=large_ratio size=large_share_of_start
loss_starts_high: factor=chance_factor huge=huge_loss vocabulary=language_model_loss
loss_term_zero: least=min_points
lr_constant: tail=last_share
lr_decayed_early: low=low_lr_share nothing=idle_lr_share rest=run_share_after steady=pace_before
  stopped=pace_after sharp=lr_drop_factor worth=missed_fall_share half=idle_run_share left=loss_left
  points=min_loss_points
lr_no_warmup: full=start_share early=early_share sgd=sgd_strength unknown=unknown_optimizer_strength
lr_restarts: factor=rise_factor most=max_restarts_share
lr_stepped_per_batch: factor=fall_factor early=early_share headway=min_loss_fall
lr_still_warming: growth=growth_factor reached=reached_share
lr_zero: zero=zero_below share=zero_share
memorised_unvalidated: left=loss_left accuracy=min_accuracy least=min_points
memory_creeps: growth=growth_share large=large_share last_part=last_sixth_share
metric_accumulates: straight=straightness grows=growth_factor least=min_points
metric_disagrees: drop=accuracy_drop fall=loss_fall still=accuracy_change least=min_points
model_restrained: much=dropout_share added=total_to_loss
nan_after_growth: doubtful=doubtful_strength
nan_after_rise: rise=rise_factor last=last_points
nan_from_arithmetic: doubtful=doubtful_strength
nan_from_half_range: doubtful=doubtful_strength
nan_from_start: early=certain_until late=doubtful_from
nan_out_of_nothing: rise=rise_factor least=min_points_before
no_gradient_at_all: doubtful=doubtful_strength
one_answer: answers=answer_share mixed=max_class_share steps=min_steps even=hard_share_from
  rare=hard_share_to
only_training_moves: least=min_fall most=max_fall share=validation_gain_share
oscillation: swing=swing_share epoch_swing=epoch_swing_share strong=strong_swing
oscillation_grows: growth=growth_factor swing=swing_share felt=share_of_start
out_of_memory: went_on=later_run_share
output_out_of_reach: beyond=margin_in_std
outputs_collapsed: shrunk=shrunk_share learned=spread_to_learned steps=min_steps
outputs_constant: share=spread_share steps=min_steps
parameters_not_held: share=min_share large=large_share
parameters_without_gradient: large=large_share some=min_share
penalty_outweighs: ratio=total_to_loss
plateau: share=flat_share gain=max_gain small=loss_left_small much=loss_left_large
printed_loss_sums: fallen=recorded_fall steady=max_variation
probabilities_as_logits: off=sum_tolerance
rank_slow: share=late_share large=full_strength_at brief=min_seconds
recurrent_bursts: often=frequent_factor few=min_points_if_lost huge=factor_if_lost steep=start_factor
resume_jump: share=jump_share noises=jump_noises much=medium_progress_lost all_lost=high_progress_lost
reward_flat: long=long_run same=equal_share drop=fall_z_score
rise_follows_lr: rise=rise_share noises=rise_noises near_peak=lr_share_of_peak points=min_loss_points
run_too_short: least=min_points
script_dropout_high: most=max_dropout
script_sum_reduction: usual=sgd_lr
signal_collapses: first=first_spread last=last_spread fall=fall_factor layers=min_layers
signal_explodes: growth=growth_factor layers=min_layers order=rank_correlation
slow_decline: far=max_fall straight=min_pace_ratio clear=medium_below_fall quick=max_first_share
spikes_at_epochs: reach=max_spacing least=min_spikes most=same_phase_share
spikes_at_lr_changes: factor=lr_factor reach=distance_share
spikes_periodic: even=rhythm_tolerance least=min_spikes apart=min_points_apart
spikes_with_gradients: factor=norm_factor reach=distance_points
step_time_creeps: growth=growth_factor large=large_factor shared=middle_share
step_time_outliers: factor=slow_factor share=lost_share large=large_share rare=max_slow_share
  fewest=min_slow_steps total=min_total_seconds
steps_skipped: share=skipped_share large=large_share start=allowed_at_start
targets_empty: most=empty_share targets=min_targets
targets_large: size=min_rms
throughput_drops: small=speed_left large=large_drop_left least=min_length_share spreads=drop_in_spreads
tiny_steps: most=max_batch_size steps=min_steps idle=idle_share waits=max_wait_share long=long_seconds
trains_in_eval_mode: share=step_share steps=min_steps
units_dead: share=dead_share most=extreme_share
units_saturated: share=saturated_share most=extreme_share
updates_large: early=early_ratio lasting=lasting_ratio first=first_ratio weights=min_weights
updates_lost: share=lost_share end=lost_share_at_end
updates_small: most=max_ratio lost=rounded_share
val_nonfinite: many=bad_share
validates_in_train_mode: passes=min_passes
validation_at_chance: gain=train_gain kept=mean_gain_share best=best_gain_share least=min_points
validation_bad_from_start: fitted=train_fall_factor accuracy=train_accuracy above=times_start
  zero=score_at_zero
validation_better: most=better_share
validation_frozen: digits=min_digits change=loss_change
validation_noisy: least=min_points
validation_parts: rise=rise_share medium=medium_rise high=high_rise stalled_for=stalled_share
  fall=train_fall gap=train_gap
validation_perfect: perfect=perfect_score early=early_share least=min_points
validation_seen: share=known_share least=min_known batches=batch_share features=min_features
  twice=max_duplicates_share repeated=max_duplicates_if_few
validation_shifted: rows=min_rows
weights_grow: growth=growth_factor gain=min_initial_gain
weights_nonfinite: streak=bad_streak
weights_not_restored: much=missing_share
weights_stand_still: digits=min_digits change=loss_change
weights_stop: digits=min_digits change=loss_change
worse_than_simple: points=accuracy_gap variance=variance_gap steps=min_steps
"""


def current(
    thresholds: Mapping[str, Mapping[str, Threshold]], names_by_detector: Mapping[str, Collection[str]]
) -> tuple[dict[str, dict[str, Threshold]], list[str]]:
    """Thresholds under their names of today, and a line for each that was given under an old one.

    `names_by_detector` are the thresholds that each detector has.
    """
    renamed, lines = _renamed(), list[str]()
    under_new_names: dict[str, dict[str, Threshold]] = {}
    for detector, values in thresholds.items():
        if detector in _DROPPED:
            lines.append(f"{detector} is no detector any more: its thresholds are left out.")
            continue
        for name, value in values.items():
            new = renamed.get(detector, {}).get(name, _EVERYWHERE.get(name, name))
            if name in names_by_detector.get(detector, ()) or new not in names_by_detector.get(detector, ()):
                new = name
            else:
                lines.append(f"{detector}.{name} is called {detector}.{new} now.")
            under_new_names.setdefault(detector, {})[new] = value
    return under_new_names, lines


def _renamed() -> dict[str, dict[str, str]]:
    """Detector -> old name -> new name."""
    rows = re.findall(r"^(\w+):((?:\s+\w+=\w+)+)", _OLD_NAMES, re.MULTILINE)
    return {detector: dict(pair.split("=") for pair in pairs.split()) for detector, pairs in rows}
