"""A batch script becomes a draft, and every line that is not what it seems is named."""

from pathlib import Path

import pytest

from spec.imports.directives import parse_directives, parse_size, parse_time
from spec.imports.sbatch import import_script

TUTORIAL = (Path(__file__).parent / "tutorial.sh").read_text()


def test_options_are_read_in_every_form_and_only_before_the_first_command() -> None:
    text = """#!/bin/bash
#SBATCH --nodes=2 -p gpu   # where
#SBATCH -J "a name" -c4
#SBATCH --exclusive --time 10
echo hello
#SBATCH --nodes=9
"""
    read = {it.name: (it.line, it.value) for it in parse_directives(text)}
    assert read == {
        "nodes": (2, "2"),
        "partition": (2, "gpu"),
        "job-name": (3, "a name"),
        "cpus-per-task": (3, "4"),
        "exclusive": (4, ""),
        "time": (4, "10"),
    }


@pytest.mark.parametrize(
    ("text", "number"),
    [("10", 600), ("1:30", 90), ("9:00:00", 32_400), ("2-3", 183_600), ("1-0:0:5", 86_405)],
)
def test_times_are_slurms(text: str, number: int) -> None:
    assert parse_time(text) == number


def test_sizes_are_slurms() -> None:
    assert [parse_size(text) for text in ("1792G", "500", "2048K", "1T")] == [
        1792 * 1024,
        500,
        2,
        1024 * 1024,
    ]
    assert (parse_time("soon"), parse_size("much")) == (None, None)


def test_the_tutorials_script_becomes_a_rank_for_each_task() -> None:
    script = import_script(TUTORIAL)
    assert (script.job_name, script.partition) == ("ddp-test1", "gpu")
    assert script.spec == {
        "distributedFramework": "PyTorch",
        "numWorkers": 24,
        "compute": {
            "gpuDevicesRequest": 1,
            "cpuCoreRequest": 12,
            "cpuMemoryRequest": f"{1792 * 1024 // 8}Mi",
        },
        "timeLimitSeconds": 32_400,
        "command": "python train_ddp_test_CIFAR10.py",
        "setup": [
            'master_addr=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
            "source ~/.bashrc",
            "source /opt/conda/etc/profile.d/conda.sh",
            "conda activate [YOUR_CONDA_ENV]",
        ],
    }


def test_the_traps_of_the_tutorials_script_are_named_by_their_lines() -> None:
    notes = {(note.line, note.blocks): note.text for note in import_script(TUTORIAL).notes}
    assert notes[13, True] == "[PATH_TO_THE_MAIN_FOLDER] has to be replaced by a value"
    assert notes[23, True] == "[YOUR_CONDA_ENV] has to be replaced by a value"
    assert "MASTER_PORT" in notes[16, False]
    assert "WORLD_SIZE" in notes[17, False]
    assert "not written" in notes[14, False]
    assert "SLURM_JOB_NODELIST" in notes[18, False]
    assert "Without -K" in notes[25, False]


def test_traps_of_an_unchanged_script_are_named_by_their_lines() -> None:
    text = """#!/bin/bash
#SBATCH --nodes=2 --output=logs/%j.out --chdir=/srv/code
export WORLD_SIZE=3
export MASTER_PORT=29500
export MASTER_ADDR=n1
cd ~/code
srun python train.py
"""
    notes = import_script(text, unchanged=True).notes
    assert not any(note.blocks for note in notes)
    said = [(note.line, note.text) for note in notes]
    for line, words in (
        (2, "where logs does not exist"),
        (2, "/srv/code has to exist on every node"),
        (3, "WORLD_SIZE is 3, but the script asks for 2 tasks"),
        (3, "Write 2, or $SLURM_NTASKS"),
        (4, "Port 29500 is fixed"),
        (5, "MASTER_ADDR is n1, on whatever nodes the job runs"),
        (6, "The home folder is that of Trainyard's user"),
        (7, "Without -K a rank that fails leaves the others waiting"),
    ):
        assert any(at == line and words in text for at, text in said), words
    assert len(said) == 7


def test_traps_of_the_job_itself_are_named() -> None:
    text = "#!/bin/sh\n#SBATCH -n 1 -D /srv\n#SBATCH --dependency=singleton\n#SBATCH --signal={}\n"
    for signal, is_heard in (("B:USR1@60", True), ("USR1@60", True), ("B:INT@60", False)):
        said = {
            note.line: note.text
            for note in import_script(text.format(signal), unchanged=True).notes
        }
        assert "waits for no other" in said[3]
        assert (4 not in said) is is_heard, signal


def test_a_range_of_nodes_and_no_limit_of_time_are_taken() -> None:
    for time in ("0", "UNLIMITED", "infinite"):
        script = import_script(f"#SBATCH -N 2-4 -n 8 --mem=8G -t {time}\nsrun a", unchanged=True)
        assert not any(note.blocks for note in script.notes)
        assert script.spec["numWorkers"] == 8
        assert script.spec["compute"]["cpuMemoryRequest"] == "2048Mi"
        assert "timeLimitSeconds" not in script.spec
    assert import_script("#SBATCH -N 2-2\nsrun a", unchanged=True).spec["numWorkers"] == 2


@pytest.mark.parametrize("place", [".", "./"])
def test_the_folder_of_the_submission_is_that_of_the_workload(place: str) -> None:
    text = f"#!/bin/bash\n#SBATCH -n 2\n#SBATCH -D {place}\nsrun hostname\n"
    script = import_script(text, unchanged=True)
    assert "workingDir" not in script.spec
    assert [note.line for note in script.notes if "not where your files are" in note.text] == [3]


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1", "::1", "localhost.localdomain"])
def test_a_loopback_address_is_a_trap_where_there_may_be_several_nodes(address: str) -> None:
    for options, is_trap in (("-N 1 -n 2", False), ("-n 1", False), ("-N 2", True), ("-n 2", True)):
        text = f"#SBATCH {options} -D /srv\nexport MASTER_ADDR={address}\nsrun -K python a.py\n"
        said = [note.text for note in import_script(text, unchanged=True).notes if note.line == 2]
        assert len(said) == is_trap, options
        assert all("each node would look for rank 0 on itself" in it for it in said)


@pytest.mark.parametrize(
    "line",
    [
        "export WORLD_SIZE=$SLURM_NTASKS",
        "export MASTER_PORT=$((20000 + SLURM_JOB_ID % 10000))",
        "export MASTER_ADDR=$(hostname)",
        "# export MASTER_PORT=29500",
    ],
)
def test_a_variable_that_follows_its_job_is_no_trap(line: str) -> None:
    text = f"#!/bin/bash\n#SBATCH -n 2 -D /srv\n{line}\nsrun -K python train.py\n"
    (place,) = import_script(text, unchanged=True).notes
    assert place.text.startswith("/srv has to exist")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("#SBATCH --nodes=many\nsrun a", 1, "is not a number"),
        ("#SBATCH --nodes=²\nsrun a", 1, "is not a number"),
        (f"#SBATCH --nodes={'9' * 5000}\nsrun a", 1, "is not a number"),
        (f"#SBATCH --mem={'9' * 5000}\nsrun a", 1, "is not a size"),
        ("#SBATCH -n 2 --gpus=3\nsrun a", 1, "cannot be divided evenly"),
        ("#SBATCH -N 2-4\nsrun a", 1, "add --ntasks"),
        ("#SBATCH -N 2-x\nsrun a", 1, "is not a number"),
        ("#SBATCH --time=soon\nsrun a", 1, "is not a time"),
        ("#SBATCH --mem=much\nsrun a", 1, "is not a size"),
        ("srun a\nsrun b", 2, "several steps"),
        ("python train.py", 1, "no srun"),
    ],
)
def test_lines_that_cannot_be_taken_block(text: str, line: int, says: str) -> None:
    (note,) = [note for note in import_script(text).notes if note.blocks]
    assert note.line == line
    assert says in note.text


def test_a_step_loses_its_own_options_and_a_continued_line_is_one() -> None:
    text = "#SBATCH -n 4\nsrun -n 4 --kill-on-bad-exit=1 \\\n  torchrun 'a b.py' --epochs 3"
    script = import_script(text)
    assert script.spec["command"] == "torchrun 'a b.py' --epochs 3"
    assert script.notes == []


@pytest.mark.parametrize("step", ["srun bash -c '\necho hello\n'", "srun echo it's"])
def test_an_unfinished_quote_is_left_to_slurm_or_named(step: str) -> None:
    text = f"#!/bin/bash\n#SBATCH --ntasks=2\n{step}\n"
    script = import_script(text, unchanged=True)
    assert (script.spec["batchScript"], script.spec["command"]) == (text, "bash")
    (note,) = [note for note in import_script(text).notes if note.blocks]
    assert (note.line, note.text.partition(" of ")[0]) == (3, "A quote")


def test_only_a_single_feature_is_a_node_type() -> None:
    text = "#!/bin/bash\n#SBATCH -n 1 -C {}\nsrun -K a\n"
    assert import_script(text.format("a100"), unchanged=True).spec["nodeType"] == "a100"
    expression = text.format("'a100|h100'")
    assert "nodeType" not in import_script(expression, unchanged=True).spec
    converted = import_script(expression)
    assert "nodeType" not in converted.spec
    assert any("--constraint=a100|h100 is left out" in note.text for note in converted.notes)
