"""Traps of scripts that run as they stand are named at their line."""

import pytest

from spec.imports.hosts import ScriptHost
from spec.imports.sbatch import import_script


def notes_by_line(*lines: str) -> dict[int, list[str]]:
    text = "\n".join(["#!/bin/bash", "#SBATCH -n 2 -D /srv", *lines, ""])
    found: dict[int, list[str]] = {}
    for note in import_script(text, unchanged=True).notes:
        found.setdefault(note.line, []).append(note.text)
    found.pop(2)  # about -D
    return found


def test_options_after_the_first_command_are_named() -> None:
    notes = notes_by_line("set -e", "#SBATCH --nodes=2", "srun -K a")
    assert notes == {4: ["sbatch reads no option after the first command, which is in line 3."]}
    assert notes_by_line("cat > job.sh <<EOF", "#SBATCH -n 4", "EOF") == {}


@pytest.mark.parametrize(
    "line", ["sbatch next.sh", "id=$(sbatch --parsable next.sh)", "if true; then sbatch a; fi"]
)
def test_jobs_that_a_script_submits_are_named(line: str) -> None:
    (text,) = notes_by_line("", line)[4]
    assert "quota" in text
    assert "On this machine it starts nothing" in text
    assert notes_by_line("echo 'sbatch next.sh'", "# sbatch a") == {}


@pytest.mark.parametrize(
    ("step", "file"),
    [
        ("srun -K -o out_%t.txt a", "out_%t.txt"),
        ("srun -K --out=log a -o no", "log"),
        ("time srun -K -e errors a", "errors"),
    ],
)
def test_files_of_srun_are_named(step: str, file: str) -> None:
    (text,) = notes_by_line(step)[3]
    assert f"in the file {file}, and not in the logs" in text


def test_the_path_of_the_copied_script_is_named() -> None:
    line = "dir=$(scontrol show job $SLURM_JOB_ID | awk -F= '/Command=/{print $2}')"
    assert "$SLURM_SUBMIT_DIR" in notes_by_line(line)[3][0]
    assert notes_by_line("scontrol show job $SLURM_JOB_ID", f"# {line}") == {}


def test_a_signal_before_the_end_needs_an_end_on_this_machine() -> None:
    for time, is_named in (("", True), ("#SBATCH --time=5\n", False)):
        text = f"#!/bin/bash\n#SBATCH --signal=USR1@60 -D /srv\n{time}srun -K a\n"
        script = import_script(text, unchanged=True, host=ScriptHost.MACHINE)
        notes = [note.text for note in script.notes if "--signal" in note.text]
        assert notes == (
            ["Without --time there is no end before which --signal could send its signal."]
            if is_named
            else []
        )


def test_options_of_the_program_are_none_of_srun() -> None:
    assert notes_by_line("srun -K python a.py -o out --error=b") == {}
    assert notes_by_line("srun -K -- a --output b") == {}


@pytest.mark.parametrize(
    "step", ["srun a", "x=$(srun a)", "time srun -n 2 a", "srun --kill a", "A=1 srun a -K"]
)
def test_steps_that_do_not_end_together_are_named(step: str) -> None:
    waits = any("Without -K" in text for text in notes_by_line(step).get(3, ()))
    assert waits is not ("--kill" in step)


def test_a_rendezvous_is_found_in_any_assignment() -> None:
    notes = notes_by_line(
        "export MASTER_ADDR=n1 MASTER_PORT=29500",
        'declare -x WORLD_SIZE="3"',
        "echo 'export MASTER_PORT=1'",
        "MASTER_PORT=1 python a.py",
    )
    assert [text.partition(",")[0] for text in notes[3]] == [
        "MASTER_ADDR is n1",
        "Port 29500 is fixed: of two jobs on one node the second fails. "
        "$((20000 + SLURM_JOB_ID % 10000)) gives each its own.",
    ]
    assert "WORLD_SIZE is 3" in notes[4][0]
    assert notes.keys() == {3, 4}


def test_a_heterogeneous_job_is_named_at_its_line() -> None:
    for line in ("#SBATCH hetjob", "#SBATCH \t hetjob", "#SBATCH packjob"):
        script = import_script(f"#!/bin/bash\n#SBATCH -n 2\n{line}\n#SBATCH -n 4\nsrun a\n")
        (note,) = [it for it in script.notes if "heterogeneous job" in it.text]
        assert (note.line, note.blocks) == (3, True)
