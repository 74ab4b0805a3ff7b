"""A batch script runs byte for byte: nobody parses its commands."""

import re
import sys

import pytest

from engines.local.batch.hostlist import expand_hostlist
from spec.phases import Phase, RankPhase
from tests.engines.local.batch.scripts import (
    Ended,
    launch_script,
    launch_text,
    run_script,
    wait_for_end,
)
from tests.engines.local.conftest import LocalRig


def job_number(ended: Ended) -> str:
    """Return the number of the job of a script that names it in its output."""
    match = re.search(r"StepId=(\d+)", ended.output)
    assert match
    return match[1]


def test_a_step_prints_to_the_logs_of_its_ranks(rig: LocalRig) -> None:
    ended = run_script(rig, "srun bash -c 'echo $SLURM_PROCID of $SLURM_NTASKS'")
    assert ended.observation.phase is Phase.COMPLETED
    assert ended.logs == ["0 of 2\n", "1 of 2\n"]


#: Pieces of scripts, and what they print.
PIECES = {
    "EPOCHS=3\nsrun echo epochs=$EPOCHS": "epochs=3\n",
    'CMD="echo trained"\nsrun -K $CMD': "trained\n",
    "if [ -d /tmp ]; then\n  srun echo trained\nfi": "trained\n",
    "cat > t <<EOF\n# stage\nzero:\n  stage: 2\nEOF\nsrun cat t": "# stage\nzero:\n  stage: 2\n",
    "OMP_NUM_THREADS=2 srun printenv OMP_NUM_THREADS": "2\n",
    "run() { srun echo $1; }\nfor lr in 1 2; do run $lr; done": "1\n2\n",
    "echo no step at all": "no step at all\n",
    'ip=$(srun echo host); echo "[$ip]"': "[host]\n",
    "srun echo a | tee t | wc -l; cat t": "1\na\n",
    "srun echo a > f; wc -l < f": "1\n",
    "echo in | srun cat": "in\n",
    "srun bash <<'EOF'\necho here\nEOF": "here\n",
    "srun bash -c 'exit 3' || echo code $?": "code 3\n",
    "echo '[INFO] ${X[INDEX]}'": "[INFO] ${X[INDEX]}\n",
}


def test_shell_code_around_a_step_works(rig: LocalRig) -> None:
    """All pieces in one script, each in a subshell between two marks."""
    pieces = "".join(f"echo '=='\n(\n{piece}\n)\n" for piece in PIECES)
    ended = run_script(rig, f"exec 2> errors\n{pieces}", options="-n 1")
    printed = ended.output.split("==\n")[1:]
    assert dict(zip(PIECES, printed, strict=True)) == PIECES


def test_a_timed_step_is_timed(rig: LocalRig) -> None:
    ended = run_script(rig, "time srun echo done")
    assert ended.output.startswith("done\n")
    assert "real" in ended.output


def test_any_interpreter_runs_its_script(rig: LocalRig) -> None:
    text = (
        f"#!{sys.executable}\n#SBATCH -n 1\n"
        "import os, sys\nprint('[DATA]', os.environ['SLURM_JOB_NUM_NODES'], sys.argv[1:])\n"
    )
    launched = rig.submit(launch_text(text, args="a 'b c'"))
    assert wait_for_end(rig, launched).output == "[DATA] 1 ['a', 'b c']\n"


def test_what_a_script_exports_reaches_its_tasks(rig: LocalRig) -> None:
    body = """
    train() { echo "trains $1"; }
    export -f train
    export NAME=$'\\xfcber' LC_ALL=C
    srun bash -c 'train $SLURM_PROCID'
    srun -n 1 bash -c 'printf %s "$NAME $1" | od -An -tx1' bash $'\\xe9' | tr -d ' '
    """
    ended = run_script(rig, body)
    assert ended.logs == ["trains 0\nfc62657220e9\n", "trains 1\n"]


@pytest.mark.parametrize(
    ("job", "step"), [("-n 2", "--overlap"), ("-n 2", "--exact"), ("-n 2", "-c 1"), ("-N 2", "-N1")]
)
def test_steps_run_beside_each_other(rig: LocalRig, job: str, step: str) -> None:
    # Each waits for the other, so that one after the other would never end.
    body = f"""
    mkfifo ab ba
    srun -n1 {step} bash -c 'echo from a > ab; cat ba' &
    srun -n1 {step} bash -c 'cat ab; echo from b > ba' &
    wait
    """
    ended = run_script(rig, body, options=job)
    lines = "".join(ended.logs).splitlines()
    assert sorted(lines) == ["from a", "from b"]


def test_steps_wait_until_their_nodes_have_room(rig: LocalRig) -> None:
    body = """
    for name in a b c; do
      srun -n 1 bash -c 'mkdir alone && sleep 0.3; rmdir alone' 2> errors_$name &
    done
    wait
    cat errors_* | grep -v -e retrying -e created
    cat errors_* | grep -o 'temporarily disabled.*' | sort -u
    mkfifo ready
    srun bash -c 'echo > ready; exec sleep 60' &
    read -r < ready
    srun --immediate echo never || echo "code $?"
    srun --overlap -n 1 echo beside
    """
    ended = run_script(rig, body)
    number = ended.output.partition("for job ")[2].partition(":")[0]
    assert ended.output.splitlines() == [
        "temporarily disabled, retrying (Requested nodes are busy)",
        f"srun: error: Unable to create step for job {number}: Requested nodes are busy",
        "code 1",
        "beside",
    ]


def test_the_script_sees_its_job(rig: LocalRig) -> None:
    names = (
        "JOB_NUM_NODES NTASKS NTASKS_PER_NODE CPUS_PER_TASK JOB_NODELIST TASKS_PER_NODE JOB_NAME"
    )
    ended = run_script(
        rig,
        f"for name in {names}; do printenv SLURM_$name; done",
        options="-J bert --nodes=2 --ntasks-per-node=2 --cpus-per-task=3",
    )
    assert ended.output.splitlines() == ["2", "4", "2", "3", "127.0.0.[1-2]", "2(x2)", "bert"]


def test_variables_of_other_frameworks_are_not_set(rig: LocalRig) -> None:
    ended = run_script(rig, "printenv RANK WORLD_SIZE MASTER_ADDR MASTER_PORT; echo end")
    assert ended.output == "end\n"


def test_a_failed_script_fails_the_workload_with_its_code(rig: LocalRig) -> None:
    ended = run_script(rig, "srun -n1 bash -c 'exit 5'", options="-n 1")
    assert ended.observation.phase is Phase.FAILED
    assert ended.observation.message == "The batch script exited with code 5."
    assert [rank.exit_code for rank in ended.observation.ranks] == [5]
    assert "task 0: Exited with exit code 5" in ended.output


def test_a_script_that_bears_a_failure_completes(rig: LocalRig) -> None:
    ended = run_script(rig, "srun bash -c '[ $SLURM_PROCID = 0 ] || exit 4' || true")
    assert ended.observation.phase is Phase.COMPLETED
    phases = [rank.phase for rank in ended.observation.ranks]
    assert phases == [RankPhase.SUCCEEDED, RankPhase.FAILED]


def test_a_failed_task_ends_the_others_of_its_step(rig: LocalRig) -> None:
    body = "srun bash -c '[ $SLURM_PROCID = 1 ] && exit 7; sleep 60'; echo code $?"
    ended = run_script(rig, body)
    assert ended.output.endswith("code 143\n")


def test_failures_are_told_in_the_words_of_slurm(rig: LocalRig) -> None:
    body = """
    srun bash -c '[ $SLURM_PROCID = 3 ] || exec sleep 60; exit 5'
    srun -K0 -n 3 bash -c 'kill -9 $$'
    """
    ended = run_script(rig, body, options="-N 1 -n 4")
    step = f"StepId={job_number(ended)}.0"
    first, second, *ends = ended.output.splitlines()
    assert first == "srun: error: 127.0.0.1: task 3: Exited with exit code 5"
    assert second == f"srun: launch/slurm: _step_signal: Terminating {step}"
    # Tasks that end together share a line; on a busy machine some end later than others.
    assert named_tasks(ends) == {"Terminated": ["0", "1", "2"], "Killed": ["0", "1", "2"]}


def named_tasks(lines: list[str]) -> dict[str, list[str]]:
    """Return the tasks that srun names for each way to end, such as ``tasks 0-2: Killed``."""
    found: dict[str, list[str]] = {}
    for line in lines:
        match = re.fullmatch(r"srun: error: 127.0.0.1: tasks? ([0-9,-]+): (\w+)", line)
        assert match, line
        found.setdefault(match[2], []).extend(expand_hostlist(f"[{match[1]}]"))
    return {end: sorted(tasks) for end, tasks in found.items()}


def test_a_signal_to_srun_ends_its_tasks_at_once(rig: LocalRig) -> None:
    task = "trap 'echo saved' TERM HUP QUIT; echo > ready; while :; do sleep 0.1; done"
    body = f"""
    mkfifo ready
    for name in TERM QUIT KILL; do
      srun -n 1 bash -c "{task}" 2> errors &
      read -r < ready
      kill -s $name $!
      wait $! 2> /dev/null
      echo "code $?"
      grep -e Quit -e forcing -e Killed errors
    done
    """
    ended = run_script(rig, body, options="-n 1")
    aborted = ["srun: forcing job termination", "srun: error: 127.0.0.1: task 0: Killed"]
    assert ended.output.splitlines() == [
        *("code 137", *aborted),
        *("code 137", "srun: Quit", *aborted),
        "code 137",
    ]


def test_the_first_interrupt_only_shows_what_runs(rig: LocalRig) -> None:
    task = "echo > ready; until [ -e go ]; do sleep 0.05; done; echo end"
    body = f"""
    mkfifo ready
    srun bash -c '{task}' 2> errors &
    read -r < ready
    kill -INT $!
    until grep -q running errors; do sleep 0.05; done
    touch go
    wait $!
    sed 's/StepId=[0-9.]* //' errors
    """
    ended = run_script(rig, body, options="-n 1")
    assert ended.output.splitlines() == [
        "end",
        "srun: interrupt (one more within 1 sec to abort)",
        "srun: task 0: running",
    ]


def test_what_still_runs_at_the_end_is_killed(rig: LocalRig) -> None:
    body = "srun bash -c 'touch ready; sleep 60' &\nuntil [ -e ready ]; do sleep 0.05; done"
    launched_end = run_script(rig, f"{body}\nsleep 60 &\necho end")
    assert launched_end.observation.phase is Phase.COMPLETED
    assert launched_end.output == "end\n"


def test_two_nodes_meet_at_the_first(rig: LocalRig) -> None:
    program = """
import os, socket
address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
if os.environ["SLURM_NODEID"] == "0":
    print(socket.create_server(address).accept()[0].recv(9).decode())
else:
    while True:
        try:
            socket.create_connection(address).sendall(b"met")
            break
        except ConnectionRefusedError:
            pass
"""
    body = f"""
    nodes=( $(scontrol show hostnames $SLURM_JOB_NODELIST) )
    export MASTER_ADDR=$(srun --nodes=1 --ntasks=1 -w ${{nodes[0]}} printenv SLURMD_NODENAME)
    export MASTER_PORT=$((20000 + SLURM_JOB_ID % 10000))
    srun {sys.executable} -c '{program}'
    """
    ended = run_script(rig, body, options="--nodes=2 --ntasks-per-node=1")
    assert ended.output.endswith("met\n")


def test_more_tasks_than_requested_are_further_ranks(rig: LocalRig) -> None:
    step = "srun -n 4 -c 1 -K bash -c 'echo rank $SLURM_PROCID'"
    ended = run_script(rig, step, options="--nodes=2 --cpus-per-task=2")
    assert ended.observation.has_own_ranks
    assert ended.logs == [f"rank {number}\n" for number in range(4)]
    assert {rank.phase for rank in ended.observation.ranks} == {RankPhase.SUCCEEDED}


def test_a_second_attempt_runs_the_script_again(rig: LocalRig) -> None:
    body = "echo try $(ls $CHECKPOINT_DIR | wc -l); touch $CHECKPOINT_DIR/$SLURM_JOB_ID; exit 1"
    launched = rig.submit(launch_script(body, backoffLimit=1))
    ended = wait_for_end(rig, launched)
    assert ended.observation.attempt == 1
    assert [rig.log(launched, attempt=attempt) for attempt in (0, 1)] == ["try 0\n", "try 1\n"]
