"""Which tests are slow: those that start processes or train, and those that go through many cases.

`make quick` leaves them out, `make test` runs them, but for the longest (`make long`). A pattern is a file
below tests/, or `file::test`. What `--durations` shows at the top of `make quick` belongs here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch
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
    "test_watch.py",
    "trial/test_arm*.py",
    "trial/test_assertions.py",
    "trial/test_ci.py",
    "trial/test_confirm.py",
    "trial/test_edited_arms.py",
    "trial/test_keras_commands.py",
    "trial/test_keras_edits.py::test_keras_takes_every_edit",
    "trial/test_lr_find.py",
    "trial/test_on_ray.py",
    "trial/test_scratch.py",
    "trial/test_suspicions.py",
    "trial/test_prove.py",
    "trial/test_treat*.py",
    # many cases, large inputs
    "*::test_hard_curves_can_be_drawn",
    "*::test_html_and_plots_are_written",
    "readers/test_recording.py::test_every_prefix_*",
    "readers/test_recording_wild.py",
    "readers/test_tensorboard.py::test_any_stream_*",
    "readers/test_tensorboard.py::test_flipped_bytes_*",
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


def is_slow(path: Path, test: str = "") -> bool:
    """Of a file of tests, or of one test in it."""
    return _among(SLOW, path, test)


def is_long(path: Path, test: str) -> bool:
    return _among(LONG, path, test)


def _among(patterns: Sequence[str], path: Path, test: str) -> bool:
    name = path.relative_to(TESTS).as_posix()
    return any(fnmatch(name, pattern) or fnmatch(f"{name}::{test}", pattern) for pattern in patterns)
