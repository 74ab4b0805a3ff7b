"""The programs of a tutorial on DDP under Slurm: its flags, how it starts them, a falling loss."""

from pathlib import Path

import pytest

from tests.trainer.runs import free_port, started
from trainer.__main__ import main
from trainer.config import parse

FLAGS = (
    "--gpu 1 --device cuda --world-size 24 --rank 3 --dist-url tcp://n1:9304 --dist-backend nccl "
    "--local_rank 2 -j 4"
)


@pytest.mark.parametrize("program", ["cifar10", "synthetic"])
def test_the_flags_of_the_tutorial_are_taken(program: str) -> None:
    config, span, variables = parse(program, FLAGS.split())
    assert (config.gpu, config.device, config.backend, span) == (1, "cuda", "nccl", None)
    assert variables == {
        "RANK": "3",
        "WORLD_SIZE": "24",
        "LOCAL_RANK": "2",
        "MASTER_ADDR": "n1",
        "MASTER_PORT": "9304",
    }


def test_the_defaults_of_the_tutorial_leave_it_to_the_launcher() -> None:
    flags = "--world-size -1 --rank -1 --local_rank -1 --dist-url env:// --workers 2"
    assert parse("cifar10", flags.split()) == parse("cifar10", [])


@pytest.mark.parametrize("url", ["file:///tmp/x", "tcp://n1", "n1:9304"])
def test_a_place_to_meet_that_is_none_ends_with_code_2(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["synthetic", "--dist-url", url])
    assert ended.value.code == 2
    assert f"{url!r} is neither env:// nor tcp://host:port" in capsys.readouterr().err


def test_a_gpu_that_is_not_there_is_missed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert main(["synthetic", "--device", "cuda"]) == 2
    assert "--device cuda: torch finds no GPU here; leave it out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("program", "epochs", "least"),
    [
        pytest.param("cifar10", "2", 0.85, marks=pytest.mark.extended),
        ("synthetic", "10", 0.85),
    ],
)
def test_two_tasks_of_a_batch_script_learn(
    tmp_path: Path, program: str, epochs: str, least: float
) -> None:
    """As the tutorial's script starts them: it exports WORLD_SIZE, MASTER_ADDR and MASTER_PORT."""
    job = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "2", "WORLD_SIZE": "2"}
    job |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    tasks = [{**job, "SLURM_PROCID": rank, "SLURM_LOCALID": "0"} for rank in "01"]
    flags = ("--epochs", epochs, "--log-interval", "20", "-j", "2")
    with started(tmp_path, tasks, program, *flags) as (master, other):
        assert (master.wait(), other.wait()) == (0, 0), master.output
    assert "Rank 1 of 2 (local rank 0) by srun" in other.output
    losses = list(master.curve("loss").values())
    assert losses[-1] < losses[0] / 2
    assert max(master.curve("test_accuracy").values()) > least
