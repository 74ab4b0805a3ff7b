"""The steps of a batch script print where they would with sbatch alone, and each rank has a log."""

from collections.abc import Callable

import pytest

from engines.base import Launch
from spec.phases import Phase
from tests.engines.contract import launch
from tests.engines.reading import logs, printed
from tests.engines.slurm import cases
from tests.engines.slurm.rig import SlurmRig

pytestmark = pytest.mark.slurm

HEAD = "#!/bin/bash\n#SBATCH --nodes=2 --ntasks=2 --time=5\n"
Run = Callable[[str], Launch]


@pytest.fixture
def run(rig: SlurmRig) -> Run:
    """Runs a script to its end, which has to be a good one."""

    def run_script(text: str) -> Launch:
        launched = rig.submit(cases.as_written(text, launch("true").handle))
        shown = rig.over(launched)
        assert (shown.phase, shown.message) == (Phase.COMPLETED, "")
        return launched

    return run_script


def lines(rig: SlurmRig, launched: Launch, rank: int = 0) -> list[str]:
    return printed(rig.engine, launched, rank).decode().splitlines()


def test_what_a_script_takes_from_srun_is_there(rig: SlurmRig, run: Run) -> None:
    launched = run(
        HEAD
        + """\
name=$(srun -N1 -n1 echo caught)
echo "[$name]"
srun echo piped | tee copy | wc -l
wc -l < copy
srun echo redirected > file
wc -l < file
{ srun -N1 -n1 sh -c 'echo bad >&2; echo good'; } 2> errors
cat errors
both=$(srun -N1 -n1 sh -c 'echo told >&2; echo kept')
echo "[$both]"
"""
    )
    assert lines(rig, launched) == ["[caught]", "2", "2", "2", "good", "bad", "told", "[kept]"]


@pytest.mark.parametrize("shebang", ["#!/bin/bash", "#!/bin/bash -l", "#!/bin/sh"])
def test_each_rank_prints_to_its_own_log(rig: SlurmRig, run: Run, shebang: str) -> None:
    text = HEAD.replace("#!/bin/bash", shebang)
    launched = run(f"{text}srun -l sh -c 'echo rank $SLURM_PROCID; echo and >&2'\n")
    for rank in (0, 1):
        assert lines(rig, launched, rank) == [f"{rank}: rank {rank}", f"{rank}: and"]


def test_options_for_the_output_of_a_step_count(rig: SlurmRig, run: Run) -> None:
    launched = run(
        HEAD
        + """\
srun --output=out-%t sh -c 'echo first'
srun -N1 -n1 -lo out-%t echo second
srun -n 2 --err errors sh -c 'echo logged; echo odd >&2'
cat out-0 out-1 errors
srun python3 -c 'import sys; print(sys.argv[1:])' -o x
"""
    )
    assert lines(rig, launched, 1) == ["logged", "['-o', 'x']"]
    expected = ["logged", "0: second", "first", "odd", "odd", "['-o', 'x']"]
    assert lines(rig, launched) == expected


def test_programs_do_not_see_how_their_output_is_kept(rig: SlurmRig, run: Run) -> None:
    text = "srun -n1 -N1 sh -c 'env; command -v srun' | grep -e STDOUTMODE -e OPEN_MODE -e srun\n"
    launched = run(HEAD + text)
    assert lines(rig, launched) == ["/usr/bin/srun"]


def test_the_address_of_the_head_node_reaches_every_rank(rig: SlurmRig, run: Run) -> None:
    """As in PyTorch's example of a multi-node training."""
    launched = run(
        """#!/bin/bash

#SBATCH --job-name=multinode-example
#SBATCH --nodes=2
#SBATCH --ntasks=2
#SBATCH --cpus-per-task=2

nodes=( $( scontrol show hostnames $SLURM_JOB_NODELIST ) )
nodes_array=($nodes)
head_node=${nodes_array[0]}
head_node_ip=$(srun --nodes=1 --ntasks=1 -w "$head_node" hostname --ip-address)

echo Node IP: $head_node_ip
export LOGLEVEL=INFO

srun sh -c '
if [ "$SLURM_PROCID" = 0 ]; then
  exec timeout 20 python3 -c "import socket
socket.create_server((\\"\\", 29517)).accept()[0].send(b\\"met\\")"
fi
for try in $(seq 50); do
  python3 -c "import socket, sys
print(socket.create_connection((sys.argv[1], 29517)).recv(9).decode())" "$1" 2> /dev/null && exit
  sleep 0.2
done
exit 1' sh $head_node_ip
"""
    )
    assert lines(rig, launched)[0].startswith("Node IP: 10.")
    assert lines(rig, launched, 1) == ["met"]


@pytest.mark.parametrize(
    "text",
    [
        "#SBATCH --ntasks=2\nsrun --overcommit -n 4 sh -c 'echo rank $SLURM_PROCID'\n",
        "#SBATCH --gpus=4 --ntasks-per-gpu=1\nsrun sh -c 'echo rank $SLURM_PROCID'\n",
    ],
    ids=["more than requested", "of GPUs"],
)
def test_every_rank_that_prints_is_shown(rig: SlurmRig, run: Run, text: str) -> None:
    launched = run(f"#!/bin/bash\n#SBATCH --time=5\n{text}")
    shown = rig.engine.observe(launched.handle)
    assert shown
    assert [(it.rank, it.role, it.index) for it in shown.ranks] == [
        (rank, "worker", rank) for rank in range(4)
    ]
    assert shown.has_own_ranks
    assert all(it.node and it.started_at for it in shown.ranks)
    for rank in range(4):
        assert lines(rig, launched, rank) == [f"rank {rank}"]
    assert len(logs(rig.engine, launched.handle, 3)) == 1


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        (
            '#SBATCH --nodes=1\n#SBATCH --ntasks=4\n#SBATCH --gres=gpu:1\npython3 -c "print(1)"\n',
            ["1"],
        ),
        ("#SBATCH -N 2 -c 2\nsrun -n 4 -c 1 -K sh -c 'echo $SLURM_PROCID'\n", list("0123")),
        ("# one\u2028two\n#SBATCH -n 2\nsrun -K sh -c 'echo $SLURM_PROCID'\n", list("01")),
        (
            "#SBATCH -N 1 -n 1\n#SBATCH --out=no/a.out\n#SBATCH --err=no/a.err\necho hello\n",
            ["hello"],
        ),
    ],
    ids=["shared GPU", "more tasks", "separator in a comment", "abbreviations"],
)
def test_odd_scripts_run_as_with_sbatch_alone(
    rig: SlurmRig, run: Run, text: str, outputs: list[str]
) -> None:
    launched = run(f"#!/bin/bash\n#SBATCH --chdir=/tmp --time=5\n{text}")
    assert [lines(rig, launched, rank) for rank in range(len(outputs))] == [[it] for it in outputs]
    shown = rig.engine.observe(launched.handle)
    assert shown
    assert len(shown.ranks) >= len(outputs)


def test_a_signal_reaches_a_step_in_the_background(rig: SlurmRig, run: Run) -> None:
    text = (
        "srun sleep 60 &\nuntil squeue -hs -j $SLURM_JOB_ID | grep -q sleep; do sleep 0.2; done\n"
    )
    launched = run(f"{HEAD}{text}kill $!\nwait $!\necho ended $(( $? != 0 ))\n")
    assert lines(rig, launched)[-1] == "ended 1"


def test_the_parts_of_a_heterogeneous_job_print_to_the_logs_of_their_ranks(
    rig: SlurmRig, run: Run
) -> None:
    launched = run(
        """#!/bin/bash
#SBATCH --job-name=uneven --time=5
#SBATCH --ntasks=1 --cpus-per-task=1
#SBATCH hetjob
#SBATCH --ntasks=2 --cpus-per-task=1 --gpus-per-task=1 --time=5
srun --het-group=0,1 sh -c 'echo rank $SLURM_PROCID of $SLURM_NTASKS; echo and >&2'
srun --het-group=0 echo first : --het-group=1 echo "second : part"
srun echo again
"""
    )
    shown = rig.engine.observe(launched.handle)
    assert shown
    assert [(it.rank, bool(it.node)) for it in shown.ranks] == [(0, True), (1, True), (2, True)]
    first, *others = (lines(rig, launched, rank) for rank in range(3))
    assert first == ["rank 0 of 3", "and", "first", "again"]
    assert others == [[f"rank {rank} of 3", "and", "second : part"] for rank in (1, 2)]
