"""Scripts of the kinds that people bring, which were once read otherwise than sbatch reads them."""

import pytest

from spec.imports.hosts import ScriptHost
from spec.imports.sbatch import ImportedScript, import_script

START = "#!/bin/bash\n#SBATCH -n 1\n#SBATCH --chdir=/tmp\n"


def as_it_stands(text: str) -> ImportedScript:
    script = import_script(text, unchanged=True)
    assert script.spec["batchScript"] == text.removeprefix("\ufeff")
    return script


def blocking_lines(script: ImportedScript) -> list[int]:
    return [note.line for note in script.notes if note.blocks]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("EPOCHS=3\nsrun -K echo epochs=$EPOCHS\n", 5),
        ('CMD="echo trained"\nsrun -K $CMD\n', 5),
        ("if [ -d /tmp ]; then\n  srun -K echo trained\nfi\n", 4),
        (
            "cat > /tmp/ds.yaml <<EOF\n# stage\nzero:\n  stage: 2\nEOF\nsrun -K cat /tmp/ds.yaml\n",
            4,
        ),
        ("time srun -K hostname\n", 4),
        ("OMP_NUM_THREADS=2 srun -K env\n", 4),
        ("mpirun -np 2 hostname\n", 4),
    ],
)
def test_shell_code_is_refused_in_a_conversion_alone(body: str, line: int) -> None:
    assert blocking_lines(import_script(START + body)) == [line]
    assert blocking_lines(as_it_stands(START + body)) == []


@pytest.mark.parametrize(
    "text",
    [
        START + 'echo "[INFO] start"\nsrun -K hostname\n',
        START + "id=$(echo run1 | tr -dc '[A-Z0-9]')\nsrun -K echo $id\n",
        "#!/usr/bin/env python3\n#SBATCH -n 1\n#SBATCH --chdir=/tmp\nprint('[DATA] ready')\n",
    ],
)
def test_words_in_brackets_run(text: str) -> None:
    assert blocking_lines(as_it_stands(text)) == []


@pytest.mark.parametrize(
    ("options", "tasks", "gpus"),
    [
        ("--nodes=1\n#SBATCH --ntasks=4\n#SBATCH --gres=gpu:1", 4, 1),
        ("--gpus=4\n#SBATCH --ntasks-per-gpu=1", 4, 4),
        ("--nodes=2\n#SBATCH --cpus-per-task=2", 2, 0),
    ],
)
def test_tasks_and_gpus_are_those_of_the_job(options: str, tasks: int, gpus: int) -> None:
    script = as_it_stands(f"#!/bin/bash\n#SBATCH {options}\nsrun -K hostname\n")
    assert blocking_lines(script) == []
    assert (script.allocation.tasks, script.allocation.gpus) == (tasks, gpus)


def test_a_comment_with_a_line_separator_does_not_end_the_options() -> None:
    script = as_it_stands("#!/bin/bash\n# one\u2028two\n#SBATCH -n 2\nsrun -K hostname\n")
    assert script.spec["numWorkers"] == 2


def test_a_heterogeneous_job_runs_on_slurm_only_and_as_it_stands() -> None:
    text = "#!/bin/bash\n#SBATCH -n 1\n#SBATCH  hetjob\n#SBATCH -n 1\nsrun -K hostname\n"
    assert blocking_lines(as_it_stands(text)) == []
    assert blocking_lines(import_script(text)) == [3]
    assert blocking_lines(import_script(text, unchanged=True, host=ScriptHost.MACHINE)) == [3]


def test_the_parts_of_a_heterogeneous_job_add_up() -> None:
    script = as_it_stands(
        "#!/bin/bash\n#SBATCH -n 1 -c 2 --mem=4G\n#SBATCH hetjob\n"
        "#SBATCH -n 3 -c 4 --gpus-per-task=1 --mem-per-cpu=1G\nsrun --het-group=0,1 hostname\n"
    )
    allocation = script.allocation
    assert (allocation.nodes, allocation.tasks, allocation.gpus) == (2, 4, 3)
    assert allocation.cpus == 2 + 3 * 4
    assert script.spec["compute"]["cpuMemoryRequest"] == "4096Mi", "16 GiB for four ranks"


def test_abbreviated_options_are_understood() -> None:
    text = "#!/bin/bash\n#SBATCH -N 1 -n 1\n#SBATCH --out=logs/a.out\n#SBATCH --err=logs/a.err\n"
    script = as_it_stands(text)
    assert {"output", "error"} < script.allocation.options.keys()
    assert [note.line for note in script.notes if "not written" in note.text] == [3, 4]


def test_a_byte_order_mark_is_left_out_with_a_note() -> None:
    text = "\ufeff#!/bin/bash\n#SBATCH -n 2\n#SBATCH --chdir=/tmp\nsrun -K hostname\n"
    for script in (as_it_stands(text), import_script(text)):
        assert script.spec["numWorkers"] == 2
        assert "byte order mark" in script.notes[0].text
        assert "setup" not in script.spec


def test_options_behind_a_command_are_a_trap() -> None:
    text = "#!/bin/bash\nset -e\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:4\nsrun -K hostname\n"
    script = as_it_stands(text)
    assert (script.allocation.tasks, script.allocation.gpus) == (1, 0)
    trapped = [note.line for note in script.notes if "after the first command" in note.text]
    assert trapped == [3, 4]
