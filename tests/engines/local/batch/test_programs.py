"""The programs in front of a batch script's PATH."""

import sys
from pathlib import Path

import pytest

from spec.phases import Phase
from tests.engines.local.batch.scripts import launch_script, run_script, wait_for_end
from tests.engines.local.conftest import LocalRig

pytestmark = pytest.mark.extended


def test_scontrol_expands_and_compresses_lists(rig: LocalRig) -> None:
    body = "scontrol show hostnames; scontrol show hostnames a[1-2]; scontrol show hostlist n1,n2"
    ended = run_script(rig, body, options="-N 2")
    assert ended.output.split() == ["127.0.0.1", "127.0.0.2", "a1", "a2", "n[1-2]"]


def test_programs_describe_the_job_and_name_this_machine(rig: LocalRig) -> None:
    body = """
    scontrol show job $SLURM_JOB_ID | grep -o -e 'NumTasks=[0-9]*' -e 'This job.*'
    squeue -h -j $SLURM_JOB_ID -o '%j %T %D' | sed "s/$SLURM_JOB_ID/ID/"
    squeue | head -n 1 | tr -s ' '
    sinfo -h -o '%D %T'
    scontrol ping
    """
    ended = run_script(rig, body, options="-J bert -n 2")
    assert ended.output.splitlines() == [
        "NumTasks=2",
        "This job runs on one machine, without Slurm.",
        "bert RUNNING 1",
        " JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)",
        "1 allocated",
        "Slurmctld(primary) at 127.0.0.1 is UP (the job runs on this machine, without Slurm)",
    ]


#: Commands that fail, and what they say.
REFUSED = {
    "sbatch next.sh": "submit the script with: trainyard submit-sbatch next.sh",
    "salloc": "no other job can be allocated",
    "sacct": "there is no accounting",
    "scontrol requeue 1": "scontrol requeue 1 does nothing here",
    "squeue -j 1": "Invalid job id specified",
    "scancel 1": "Invalid job id specified",
    "scancel --signal=99 $SLURM_JOB_ID": "Unknown job signal: 99",
    "srun -o missing/out hostname": "missing/out: No such file or directory",
    "srun nosuchprogram": "execve(): nosuchprogram: No such file or directory",
    "srun --nosuch hostname": "srun: unrecognized option '--nosuch'",
}
#: The exit codes of srun as Slurm has them; those of the others are 1.
CODES = {"srun nosuchprogram": "2", "srun --nosuch hostname": "255"}


def test_what_this_machine_cannot_do_fails_in_words(rig: LocalRig) -> None:
    body = "".join(f"{command} || echo code $?\necho '=='\n" for command in REFUSED)
    said = run_script(rig, body, options="-n 1").output.split("==\n")
    for command, sentence, lines in zip(REFUSED, REFUSED.values(), said, strict=False):
        assert sentence in lines
        assert lines.endswith(f"code {CODES.get(command, '1')}\n")


def test_missing_modules_are_said_and_the_script_continues(rig: LocalRig) -> None:
    ended = run_script(
        rig,
        "set -e\nexport PATH=${PATH%%:*}:/usr/bin:/bin:${PATH##*:}\n"
        "module load cuda/12.1\nconda activate ddp || echo none",
    )
    assert "no environment modules, so 'module load cuda/12.1' did nothing" in ended.output
    assert "no conda on its PATH, so 'conda activate ddp' did nothing" in ended.output
    assert ended.output.endswith("none\n")


def test_scancel_stops_the_workload(rig: LocalRig) -> None:
    launched = rig.submit(launch_script("scancel $SLURM_JOB_ID\nsleep 60"))
    assert wait_for_end(rig, launched).observation.phase is Phase.STOPPED


def test_scancel_sends_a_signal_to_tasks_or_script(rig: LocalRig) -> None:
    task = "import signal; print('ready', flush=True); signal.sigwait([signal.SIGUSR2]); print(2)"
    wait = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2]); "
    body = f"""
    trap 'echo script got it' USR1
    srun -n1 {sys.executable} -c "{wait}{task}" > said &
    until grep -qs ready said; do sleep 0.05; done
    scancel --signal=USR2 $SLURM_JOB_ID
    wait
    tail -n 1 said
    scancel --batch --signal=USR1 $SLURM_JOB_ID
    sleep 1
    """
    ended = run_script(rig, body, options="-n 1")
    assert ended.output == "2\nscript got it\n"


def test_labels_name_the_task_of_each_line(rig: LocalRig) -> None:
    ended = run_script(rig, "srun -l echo hi | sort\nsrun -l echo log")
    assert ended.output == "0: hi\n1: hi\n0: log\n"
    assert ended.logs[1] == "1: log\n"


def test_output_files_have_names_by_task(rig: LocalRig, tmp_path: Path) -> None:
    body = "srun -o out_%t_%n.txt -e err_%s.txt bash -c 'echo $SLURM_PROCID; echo wrong >&2'"
    ended = run_script(rig, f"cd {tmp_path}\n{body}\nsrun -o all.txt echo x", options="-N 2")
    assert ended.logs == ["", ""]
    assert (tmp_path / "out_0_0.txt").read_text() == "0\n"
    assert (tmp_path / "out_1_1.txt").read_text() == "1\n"
    assert (tmp_path / "err_0.txt").read_text() == "wrong\nwrong\n"
    assert (tmp_path / "all.txt").read_text() == "x\nx\n"


def test_input_reaches_every_task(rig: LocalRig) -> None:
    ended = run_script(rig, "seq 100000 | srun md5sum\nsrun cat")
    assert ended.logs[0] == ended.logs[1]
    assert ended.logs[0].split()[0] == "dea9193b768319cbb4ff1a137ac03113"


def test_steps_bear_what_scripts_do_to_files_and_folders(rig: LocalRig) -> None:
    body = """
    srun -n 1 cat <&-
    srun -n 1 echo unseen >&-
    srun -n 1 -D /no/such/folder pwd 2>&1
    mkdir gone && cd gone && rmdir ../gone
    srun echo never 2>&1 || echo "code $?"
    cd ..
    env -i "$(command -v srun)" -n 1 /bin/echo clean
    srun -O -n 150 -l echo line | wc -l
    """
    ended = run_script(rig, body)
    assert ended.output.splitlines() == [
        "slurmstepd: error: couldn't chdir to `/no/such/folder': No such file or directory: "
        "going to /tmp instead",
        "/tmp",
        "srun: error: getcwd failed: No such file or directory",
        "code 1",
        "clean",
        "150",
    ]


def test_export_chooses_the_variables_of_tasks(rig: LocalRig) -> None:
    body = """
    export A=1 B=2
    srun --export=ALL,C=3 bash -c 'echo $A $B $C'
    srun --export=A,C=3 /bin/bash -c 'echo $A $B $C'
    srun --export=NONE /bin/bash -c 'echo none $A $SLURM_PROCID'
    """
    ended = run_script(rig, body, options="-n 1")
    assert ended.output.splitlines() == ["1 2 3", "1 3", "none 0"]
