"""`traindx try`: one remedy on one script, beside the untouched script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from traindx.cli import Failure
from traindx.cli._options import program_command
from traindx.cli._output import check_place
from traindx.cli.treat import (
    check_remedy,
    finish,
    folder_for,
    force_option,
    new_treatment,
    out_option,
    trial_options,
)

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis
    from traindx.experiment.treat.candidates import CauseCandidates
    from traindx.source.script import Script


@program_command("Try one remedy on a script, in paired runs.", (("remedy", "REMEDY"),))
@out_option
@trial_options
@force_option
def command(remedy: str, program: tuple[str, ...], as_module: bool, **options: Any) -> None:
    """Try REMEDY on a script, on the same seeds and data as the untouched script, and judge it.

    'traindx list remedies' names them. The script is run in copies of the working directory; nothing of
    yours is changed. A remedy that helps is shown as a diff, and the edited script is run as it is.

    Exit code: 0 when it helped, also where some of the problem stays; 1 when it did not help, 2 when it
    could not be tried.
    """
    check_remedy(remedy)
    out = folder_for(options["out"], options["force"])
    check_place(out, "--out")

    def plan(diagnosis: Diagnosis, script: Script | None) -> Sequence[CauseCandidates]:
        from traindx.experiment.treat.candidates import single

        course = single(remedy, diagnosis, script)
        if not (course.candidates or course.instructions):
            raise Failure(
                f"{remedy} cannot be tried by itself here: 'traindx explain {remedy}' says what to do."
            )
        return [course]

    treat_options = {"recording": None, "only": remedy, "dry_run": False, "apply_it": False}
    treated = new_treatment(program, as_module, {**options, **treat_options}, plan=plan, healthy_too=True)
    finish(treated, out, {**options, **treat_options}, good=("healthy", "treated", "improved"))
