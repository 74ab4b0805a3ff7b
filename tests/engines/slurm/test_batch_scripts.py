"""Batch scripts that run as they stand: both examples of the tutorial, and what is around them."""

import shlex
from dataclasses import replace

import pytest

from engines.slurm.layout import job_name
from engines.slurm.script.render import BATCH
from engines.slurm.script.render import render_files as scripts
from engines.slurm.unsupported import complaints
from spec.phases import Phase, Reason
from spec.problems.errors import path_text
from tests.engines.contract import launch
from tests.engines.reading import printed
from tests.engines.slurm import cases
from tests.engines.slurm.rig import SlurmRig
from tests.engines.slurm.tutorial import settled


def test_the_script_that_runs_is_the_one_that_was_given() -> None:
    text = settled("CIFAR10", "/shared/example")
    by_name = scripts(cases.as_written(text), cases.SITE)
    assert by_name["script.sh"] == text
    head = by_name[BATCH].split("\n\n")[0].splitlines()
    comments = [line for line in text.splitlines() if line.startswith("#")]
    written = comments[1 : comments.index([it for it in comments if "#SBATCH" in it][-1]) + 1]
    assert head[1 : len(written) + 1] == written
    assert head[-2:] == ["#SBATCH --requeue", "#SBATCH --export=ALL"]


def test_options_of_the_script_itself_are_not_said_again() -> None:
    text = "#!/bin/sh\n#SBATCH -A speech --no-requeue --error=e.log\nsrun hostname\n"
    head = scripts(cases.as_written(text), cases.SITE)[BATCH].split("\n\n")[0]
    assert "account" not in head.replace("#SBATCH -A", "")
    assert head.count("requeue") == 1
    assert "#SBATCH --error=/shared/trainyard/workloads/" in head


def test_the_export_option_of_a_script_is_not_overruled() -> None:
    usual, own = (
        scripts(cases.as_written(f"#!/bin/sh\n{line}\nsrun hostname\n"), cases.SITE)[BATCH]
        for line in ("", "#SBATCH --export=ALL,DATA=/data")
    )
    assert "#SBATCH --export=ALL\n" in usual
    assert own.count("--export") == 1
    assert "--export=ALL,DATA=/data" in own


@pytest.mark.parametrize(
    ("text", "fields", "place", "says"),
    [
        ("#SBATCH -n 3", {}, "", ""),
        ("#SBATCH -n 3", {"num_workers": 2}, "numWorkers", "asks for 3 tasks"),
        ("#SBATCH -a 0-9", {}, "batchScript", "the script is a job array"),
        ("#SBATCH -D [PATH_TO_IT]", {}, "batchScript", "line 2: [PATH_TO_IT]"),
        ("", {"setup": ("true",)}, "setup", "write it into the script"),
    ],
)
def test_a_script_that_cannot_run_here_is_refused_by_its_line(
    text: str, fields: dict[str, object], place: str, says: str
) -> None:
    launched = cases.as_written(f"#!/bin/sh\n{text}\nsrun hostname\n")
    spec = launched.spec.model_copy(update=fields)
    problems = list(complaints(replace(launched, spec=spec), cases.SITE))
    assert [(path_text(it.path), says in it.message) for it in problems] == (
        [(place, True)] if place else []
    )


@pytest.mark.slurm
def test_a_script_that_fails_says_so_and_its_tasks_end_together(rig: SlurmRig) -> None:
    text = """#!/bin/bash
#SBATCH --ntasks=2 --time=5
#SBATCH --output=not/there/%x-%j.out
echo "$SLURM_JOB_NAME in $PWD"
srun bash -c 'echo task $SLURM_PROCID; [ $SLURM_PROCID = 0 ] && exec sleep 300; exit 3'
"""
    launched = rig.submit(cases.as_written(text, launch("true").handle))
    shown = rig.over(launched)
    assert (shown.phase, shown.reason) == (Phase.FAILED, Reason.RANK_FAILED)
    assert "The batch script exited with code" in shown.message
    assert b"task 1\n" in printed(rig.engine, launched, 1)
    assert b"script in " in printed(rig.engine, launched, 0)


@pytest.mark.slurm
def test_a_stop_lets_the_steps_of_a_script_save_what_they_have(rig: SlurmRig) -> None:
    text = """#!/bin/bash
#SBATCH --ntasks=2 --time=5
srun bash -c 'trap "echo saved; exit 0" TERM; echo ready; while :; do sleep 0.1; done'
"""
    launched = rig.submit(cases.as_written(text, launch("true").handle))
    assert printed(rig.engine, launched, 1, until=b"ready")
    rig.engine.stop(launched.handle, run=1)
    shown = rig.over(launched)
    assert (shown.phase, shown.reason) == (Phase.STOPPED, Reason.STOPPED_BY_USER)
    assert b"saved" in printed(rig.engine, launched, 1)


SAVES = """import os, signal, sys, time
def save(*_):
    time.sleep(2)
    rank = os.environ["SLURM_PROCID"]
    with open(f"saved-{rank}", "w") as file:
        print("saved", rank, file=file)
    os._exit(0)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(300)
"""


@pytest.mark.slurm
@pytest.mark.parametrize(
    "step",
    [
        "srun bash -c 'true && python3 save.py'",
        "srun -l -n 2 sh -c 'python3 save.py | tee out'",
        "srun ./step.sh",
    ],
    ids=["and", "pipe", "script"],
)
def test_the_grace_period_of_a_step_outlives_its_shells(rig: SlurmRig, step: str) -> None:
    text = f"""#!/bin/bash
#SBATCH --ntasks=2 --time=5
cat > save.py <<'EOF'
{SAVES}EOF
printf '#!/bin/sh\\npython3 save.py\\nexit\\n' > step.sh
chmod +x step.sh
{step}
cat saved-0 saved-1
"""
    launched = cases.as_written(text, launch("true").handle)
    spec = launched.spec.model_copy(update={"termination_grace_period_seconds": 20})
    launched = rig.submit(replace(launched, spec=spec))
    for rank in (0, 1):
        assert printed(rig.engine, launched, rank, until=b"ready")
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED
    assert printed(rig.engine, launched, 0).endswith(b"saved 0\nsaved 1\n")


@pytest.mark.slurm
def test_a_shell_in_a_step_fails_and_ends_as_it_does_without_trainyard(rig: SlurmRig) -> None:
    text = """#!/bin/bash
#SBATCH --ntasks=1 --time=5
srun bash -c 'exit 3'; echo code $?
srun bash -c 'echo $0 $1' first 'second word'; echo code $?
echo in | srun sh -c 'cat; kill -USR1 $$; sleep 9'; echo code $?
srun -- bash -c 'echo after'; echo code $?
srun python3 -c 'print("direct")'; echo code $?
"""
    launched = rig.submit(cases.as_written(text, launch("true").handle))
    assert rig.over(launched).phase is Phase.COMPLETED
    lines = printed(rig.engine, launched, 0).decode().splitlines()
    said = [line for line in lines if not line.startswith(("srun: ", "slurmstepd: "))]
    assert said == [
        *("code 3", "first second word", "code 0", "in", "code 138"),
        *("after", "code 0", "direct", "code 0"),
    ]


@pytest.mark.slurm
def test_a_script_without_steps_is_killed_when_its_grace_period_is_over(rig: SlurmRig) -> None:
    text = (
        "#!/bin/bash\n#SBATCH --ntasks=1\ntrap '' TERM\necho ready\nwhile :; do sleep 0.1; done\n"
    )
    launched = rig.submit(cases.as_written(text, launch("true").handle))
    assert printed(rig.engine, launched, 0, until=b"ready")
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED


@pytest.mark.slurm
def test_a_script_gets_the_signals_of_its_job_and_its_variables(
    rig: SlurmRig,
) -> None:
    text = """#!/bin/bash
#SBATCH --ntasks=1 --time=9 --export=ALL,WORD=exported
trap 'echo told; exit 0' USR1
echo "ready, $WORD"
while :; do sleep 0.1; done
"""
    launched = rig.submit(cases.as_written(text, launch("true").handle))
    assert printed(rig.engine, launched, 0, until=b"\n")
    name = job_name(launched.handle.workload_id, 1)
    rig.transport.run(["scancel", "--batch", "--signal=USR1", f"--name={name}"])
    assert rig.over(launched).phase is Phase.COMPLETED
    assert printed(rig.engine, launched, 0) == b"ready, exported\ntold\n"


@pytest.mark.slurm
def test_a_script_gets_its_arguments_and_only_its_allowed_options(rig: SlurmRig) -> None:
    text = """#!/bin/bash
# a comment
  # an indented one
#SBATCH -W --ntasks=2 --time=5
#SBATCH --comment="one \\"two\\" #3"

#SBATCH --test-only
#SBATCH --cpus-per-task=1
printf '<%s>' "$@"
echo " $SLURM_NTASKS tasks"
"""
    words = ["a b", "it's", "$HOME", "--lr=1", ""]
    launched = cases.as_written(text, launch("true").handle)
    worker = launched.spec.worker.model_copy(update={"args": shlex.join(words)})
    spec = launched.spec.model_copy(update={"worker": worker})
    rig.submit(replace(launched, spec=spec))
    assert rig.over(launched).phase is Phase.COMPLETED
    expected = b"<a b><it's><$HOME><--lr=1><> 2 tasks\n"
    assert printed(rig.engine, launched, 0) == expected


@pytest.mark.slurm
def test_tasks_may_share_the_gpus_of_a_job(rig: SlurmRig) -> None:
    text = """#!/bin/bash
#SBATCH --nodes=1 --ntasks=4 --gres=gpu:1 --time=5
scontrol show job $SLURM_JOB_ID | grep -o 'gres/gpu=.*'
echo "$SLURM_NTASKS tasks"
"""
    launched = cases.as_written(text, launch("true").handle)
    assert launched.spec.gpus() == 1
    assert not list(complaints(launched, rig.site))
    rig.submit(launched)
    assert rig.over(launched).phase is Phase.COMPLETED
    assert printed(rig.engine, launched, 0).split(b"\n")[-2:] == [b"4 tasks", b""]
    assert b"gres/gpu=1\n" in printed(rig.engine, launched, 0)
