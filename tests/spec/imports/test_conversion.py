"""A script becomes a workload only if that runs the same; the rest is refused by its line."""

import random
import shlex
import subprocess

import pytest

from spec.imports.sbatch import ImportedScript, import_script

ELSEWHERE = "runs as it is on this machine and on Slurm"


def convert(*lines: str, options: str = "-n 2 -D /srv") -> ImportedScript:
    return import_script("\n".join(["#!/bin/bash", f"#SBATCH {options}", *lines, ""]))


def refused_lines(script: ImportedScript) -> list[int]:
    blocking = [note for note in script.notes if note.blocks]
    assert all(ELSEWHERE in note.text or "quote" in note.text for note in blocking)
    return [note.line for note in blocking]


@pytest.mark.parametrize(
    ("step", "command"),
    [
        ("srun -K python train.py", "python train.py"),
        ("srun -n 2 --kill-on-bad-exit=1 python 'a b.py'", "python 'a b.py'"),
        ("srun -K -- python -c \"print('x')\"", "python -c 'print('\"'\"'x'\"'\"')'"),
        ("srun -Ku --ntasks=2 -N 1 bash -c 'echo $HOME'", "bash -c 'echo $HOME'"),
        ("srun -K --mpi=none --export=ALL a \\\n  b", "a b"),
        ("/usr/bin/srun -K a '#b' # comment", "a '#b'"),
        ('srun -K echo "\\$HOME \\\\ a\\"b"', "echo '$HOME \\ a\"b'"),
    ],
)
def test_a_simple_srun_becomes_the_command(step: str, command: str) -> None:
    script = convert("export A=1", step)
    assert not refused_lines(script)
    assert script.spec["command"] == command
    assert script.spec["setup"] == ["export A=1"]


@pytest.mark.parametrize(
    "step",
    [
        *(
            "srun -K echo $EPOCHS",
            'srun -K echo "$EPOCHS"',
            "srun -K echo `date`",
            "srun -K ls *.py",
        ),
        *("srun -K ls ~", "srun -K echo {a,b}", "srun -K a > out", "srun -K a 2>&1", "srun -K a &"),
        *(
            "srun -K a | tee log",
            "srun -K a && echo b",
            "time srun -K a",
            "! srun -K a",
            "A=1 srun a",
        ),
        *("( srun -K a )", "{ srun -K a; }", "if true; then srun -K a; fi", "x=$(srun -K a)"),
        *(
            "for i in 1 2; do srun -K a; done",
            "nohup srun -K a",
            "bash -c 'srun -K a'",
            "eval srun a",
        ),
        *(
            "srun -K -n 4 a",
            "srun -K -N 2 a",
            "srun -K -o log a",
            "srun -K --output=x a",
            "srun -K",
        ),
        *("srun -K -c 4 a", "srun -K --cpu-bind=cores a", "srun -K --no-such a", "srun -K a <<< b"),
        *("srun -K bash -c 'echo $(date)'", "srun -K bash -c 'echo $$'", "srun -K a $'b'"),
        *(
            "true &&\n srun -K a",
            "mpirun -np 2 a",
            "python train.py",
            "torchrun a.py",
            "echo a",
            "exec srun -K a",
        ),
        *("srun -K --multi-prog conf", "srun -K -w n1 a", "srun -K a; srun -K b", "srun -K a <(b)"),
    ],
)
def test_a_step_with_shell_in_it_is_refused(step: str) -> None:
    script = convert("# comment", step)
    assert set(refused_lines(script)) == {4}


@pytest.mark.parametrize(
    "line",
    [
        *(
            "cat > a <<EOF\ntext\nEOF",
            "if true; then\n  b\nfi",
            "f() {\n  srun -K b\n}",
            "(\n  b\n)",
        ),
        *("for i in 1 2; do\n  b\ndone", "case $a in\n  b) c ;;\nesac", "b &", "exit 1", "exec b"),
        *("trap b EXIT", "sbatch other.sh", "mpirun a", "echo 'a\nb'", "echo 'a", "x=$(mpirun a)"),
        *(
            "while read a; do\n  b\ndone < c",
            "nohup mpirun a",
            "a=(\n  1 2\n)",
            "cat <<-'E'\n\tx\n\tE",
        ),
    ],
)
def test_setup_that_is_more_than_complete_lines_is_refused(line: str) -> None:
    script = convert(line, "srun -K python train.py")
    lines = refused_lines(script)
    assert lines[0] == 3
    assert "setup" not in script.spec


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [("echo done", False), ("exit 0", False), ("python eval.py", True), ("srun -K b", True)],
)
def test_what_follows_srun_is_left_out_or_refused(line: str, is_refused: bool) -> None:
    script = convert("srun -K a", line)
    assert refused_lines(script) == ([4] if is_refused else [])
    assert any(note.line == 4 for note in script.notes)


def test_lines_that_trainyard_replaces_are_named() -> None:
    script = convert(
        "export MASTER_ADDR=n1 MASTER_PORT=1",
        "export RANK WORLD_SIZE",
        "WORLD_SIZE=2 OTHER=1",
        "srun -K --label a",
    )
    assert script.spec["setup"] == ["WORLD_SIZE=2 OTHER=1"]
    said = {note.line: note.text for note in script.notes if not note.blocks}
    assert "sets these variables itself" in said[3]
    assert "sets these variables itself" in said[4]
    assert "--label is left out" in said[6]


def test_other_interpreters_and_windows_lines_are_refused() -> None:
    script = import_script("#!/usr/bin/env python3\nprint(1)\n")
    assert refused_lines(script) == [1]
    (note,) = [it for it in import_script("#!/bin/sh\nsrun -K a\r\n").notes if it.blocks]
    assert (note.line, "as on Windows" in note.text) == (2, True)


SETUP_LINES = [
    *("module load cuda", "source ~/.bashrc", "conda activate base", "export A='b c'", "cd /srv"),
    *('echo "[INFO] $HOSTNAME"', "nvidia-smi || true", "a=$(date +%s)", "f() { echo $1; }", "f 1"),
    *("if [ -d x ]; then cd x; fi", "for i in 1 2; do echo $i; done", "[[ -n $A ]] && echo A"),
    *("ulimit -n 4096", "export B=${C:-$(pwd)}", "echo a > b 2>&1", "a=(1 2 3)", "echo \\\n  two"),
    *("set -euo pipefail", 'eval "$(conda shell.bash hook)"', "(( i = 1 )); echo `date`", ": # x"),
    *("if true; then", "fi", "cat <<EOF", "EOF", "f() {", "}", "echo 'open", "done", "echo )"),
]
STEPS = ["srun -K python a.py", "srun -K a 'b c'", "  srun -K a", "srun -K a $b", "time srun a"]


def test_whatever_is_taken_over_is_complete_for_bash() -> None:
    chance = random.Random(7)  # noqa: S311 -- no secret
    taken = 0
    for _ in range(250):
        lines = chance.sample(SETUP_LINES, chance.randrange(5))
        script = convert(*lines, chance.choice(STEPS))
        if any(note.blocks for note in script.notes):
            continue
        taken += 1
        result = "\n".join([*script.spec.get("setup", ()), script.spec["command"], ""])
        done = subprocess.run(["/bin/bash", "-n"], input=result, text=True, capture_output=True)
        assert (done.returncode, done.stderr) == (0, ""), result
        assert all("\n" not in line for line in script.spec.get("setup", ()))
        assert shlex.split(script.spec["command"])
    assert taken > 40
