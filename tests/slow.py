"""Which tests are slow: those that start processes or train, and those that go through many cases.

`make quick` leaves them out, `make test` runs them, but for the longest (`make long`). A pattern is a file
below tests/, or `file::test`. What `--durations` shows at the top of `make quick` belongs here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
SLOW = (
    # processes and trainings
    "*::test_a_browser_draws_*",
    "checklist/test_command.py",
    "checklist/test_here.py",
    "checklist/test_pool.py",
    "checkup/test_checkpoints.py",
    "checkup/test_model_files.py",
    "checkup/test_models.py::test_the_command",
    "checkup/test_targets.py::test_code_runs_only_where_it_is_trusted",
    "checkup/test_files_read.py",
    "hostile/*",
    "test_doctor.py::test_more_threads_than_cores",
    "test_every_command.py",
    "test_skills.py::test_what_is_quoted_runs",
    "test_doctor.py::test_this_machine_is_measured",
    "test_doctor.py::test_a_normal_machine_raises_no_alarm",
    "test_doctor.py::test_what_the_last_recording_shows_is_part_of_it",
    "changes/*",
    "record/*",
    "request/test_request.py::test_script",
    "test_api.py::test_the_examples_of_the_page_run",
    "test_ask.py::test_a_conversation_on_a_real_terminal",
    "test_ask.py::test_ctrl_c_loses_nothing",
    "test_clinic.py",
    "test_crash.py::test_a_log_that_holds_only_a_traceback_is_diagnosed",
    "test_crash.py::test_a_package_that_crashes_before_its_first_step_is_diagnosed",
    "test_compare_cli.py::test_in_a_real_terminal",
    "test_compare_cli.py::test_interrupted_in_the_middle",
    "test_demo.py",
    "test_documents_agree.py::test_the_clinics_reports_agree_with_themselves",
    "test_documents_agree.py::test_made_up_runs",
    "test_diagnose_cli.py::test_a_closed_pipe_is_quiet",
    "test_diagnose_cli.py::test_ctrl_c_among_many_is_quiet",
    "test_diagnose_cli.py::test_many_runs_over_cores_*",
    "test_diagnose_cli.py::test_no_bar_in_a_pipe",
    "test_diagnose_cli.py::test_only_what_is_needed_is_loaded",
    "test_diagnosis_plots.py::test_pictures_are_written",
    "test_examples.py",
    "test_explain.py::test_an_unknown_id_suggests_the_nearest",
    "test_explain.py::test_every_page_can_be_shown",
    "test_explain.py::test_lists_have_one_line_each",
    "test_level.py",
    "test_mcp.py",
    "test_new_detector.py",
    "test_notebook.py",
    "test_run_*.py",
    "test_score.py",
    "test_scripts*.py",
    "test_sequences_and_copies.py::test_a_language_model_that_sees_its_answer",
    "test_sequences_and_copies.py::test_a_target_network_that_never_follows",
    "test_watch.py",
    "trial/test_arm*.py",
    "trial/test_assertions.py",
    "trial/test_ci.py",
    "trial/test_confirm.py",
    "trial/test_edited_arms.py",
    "trial/test_edits_run.py",
    "trial/test_keras_commands.py",
    "trial/test_keras_edits.py::test_keras_takes_every_edit",
    "trial/test_lr_find.py",
    "trial/test_on_ray.py",
    "trial/test_scratch.py",
    "trial/test_suspicions.py",
    "trial/test_prove.py",
    "trial/test_treat*.py",
    # many cases, large inputs
    "checkup/test_data.py::test_a_change_of_unit_within_groups_*",
    "checkup/test_data.py::test_a_look_alike_is_not",
    "checkup/test_data.py::test_a_planted_fault_is_found",
    "*::test_hard_curves_can_be_drawn",
    "*::test_html_and_plots_are_written",
    "readers/test_recording.py::test_every_prefix_*",
    "readers/test_recording_wild.py",
    "readers/test_tensorboard.py::test_any_stream_*",
    "readers/test_tensorboard.py::test_flipped_bytes_*",
    "readers/test_tensorboard.py::test_same_tag_in_several_layouts",
    "readers/test_tensorboard.py::test_noise_*",
    "readers/test_tensorboard.py::test_shuffled_*",
    "readers/test_tensorboard.py::test_truncated_*",
    "readers/test_wandb.py::test_history_truncated_*",
    "test_cli.py::test_inspect_on_the_samples_*",
    "test_damage.py",
    "test_html.py::test_any_text_stays_text",
    "test_html.py::test_size",
    "test_inside_report.py",
    "test_signal_rates*.py",
    "test_simulation.py",
)

# Those that only `make long` runs: what they hold is held in small by others, or by the score.
LONG = (
    "checkup/test_model_files.py::test_a_model_of_keras",
    "hostile/test_cost.py::test_few_calls_a_step_and_no_more_as_the_run_grows",
    "record/test_integrations.py::test_lightning_stops_at_a_critical_problem",
    "record/test_integrations.py::test_transformers_by_report_to",
    "record/test_keras.py::test_other_backends",
    "test_mcp.py::test_a_folder_of_a_thousand_logs",
    "test_mcp.py::test_prove_answers",
    "test_clinic.py::test_fast_half",
    "test_documents_agree.py::test_the_clinics_reports_agree_with_themselves",
    "test_new_detector.py::test_it_passes_from_the_first_minute",
    "test_run_children.py::test_both_ranks_of_lightning_s_own_launcher",
    "trial/test_keras_commands.py::test_preflight_runs_edited_copies",
    "trial/test_on_ray.py::test_the_cluster_finds_what_this_machine_finds",
    "trial/test_prove.py::test_a_race_leaves_the_losers_behind",
    "trial/test_prove.py::test_what_only_looks_better_is_found_out",
    "trial/test_treatment_report.py::test_the_report_has_the_sections_of_a_final_report",
)

# Seconds of a core that the longest files take, roughly: `make test` begins with them (`dealt`).
SECONDS = {
    "request/test_request.py": 65,
    "test_scripts.py": 50,
    "test_scripts_models.py": 45,
    "test_scripts_steps.py": 45,
    "record/test_integrations.py": 40,
    "test_mcp.py": 40,
    "test_scripts_ends.py": 40,
    "trial/test_treat.py": 35,
    "test_demo.py": 30,
    "test_every_command.py": 30,
    "test_simulation.py": 30,
    "test_skills.py": 30,
    "trial/test_prove.py": 30,
    "trial/test_suspicions.py": 30,
    "hostile/test_trial_escapes.py": 25,
    "test_damage.py": 25,
    "test_run_children.py": 25,
    "checkup/test_data.py": 20,
    "record/test_keras.py": 20,
    "trial/test_assertions.py": 20,
    "trial/test_keras_commands.py": 20,
    "test_level.py": 15,
    "test_run_stop.py": 15,
    "test_sequences_and_copies.py": 15,
    "test_watch.py": 15,
    "record/test_modes.py": 10,
    "test_signal_rates_curves.py": 10,
    "trial/test_ci.py": 10,
    "trial/test_confirm.py": 10,
    "trial/test_keras_edits.py": 10,
    "trial/test_lr_find.py": 10,
    "trial/test_treatment_report.py": 10,
}


def dealt(files: Sequence[Path], workers: int) -> list[int]:
    """The order in which tests, of which these are the files, take the least time among workers.

    Each of them gets a share of equal length from the list, one after the other, and takes from the end of
    another's share when its own is done. So every share begins with long files, as many seconds in each, and
    ends with short tests, and those of one file stay together.
    """
    counts = Counter(path.relative_to(TESTS).as_posix() for path in files)
    shares: list[list[str]] = [[] for _ in range(workers)]
    for name in sorted(counts.keys() & SECONDS.keys(), key=lambda one: (-SECONDS[one], one)):
        min(shares, key=lambda share: sum(map(SECONDS.__getitem__, share))).append(name)
    place = {name: (number, at) for number, share in enumerate(shares) for at, name in enumerate(share)}
    names = [path.relative_to(TESTS).as_posix() for path in files]
    short = [number for number, name in enumerate(names) if name not in place]
    order: list[int] = []
    for number in range(workers):
        mine = [at for at, name in enumerate(names) if place.get(name, (None,))[0] == number]
        mine.sort(key=lambda at: (place[names[at]], at))
        left = max(0, len(files) * (number + 1) // workers - len(order) - len(mine))
        taken, short = (short, []) if number == workers - 1 else (short[:left], short[left:])
        order += mine + taken
    return order


def is_slow(path: Path, test: str = "") -> bool:
    """Of a file of tests, or of one test in it."""
    return _among(SLOW, path, test)


def is_long(path: Path, test: str) -> bool:
    return _among(LONG, path, test)


@cache
def _among(patterns: tuple[str, ...], path: Path, test: str) -> bool:
    name = path.relative_to(TESTS).as_posix()
    return any(fnmatch(name, pattern) or fnmatch(f"{name}::{test}", pattern) for pattern in patterns)
