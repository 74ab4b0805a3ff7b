"""The training program of workflows: its tasks start some of the ranks each."""

import re
import sys
from pathlib import Path

import pytest
import torch

from tests.trainer.runs import ROOT, Run, base_env, ended, free_port
from trainer.examples.train_dist import Net, batches, parse_flags

PROGRAM = ROOT / "trainer" / "examples" / "train_dist.py"
PARAMETERS = re.compile(r"^Rank ([0-9]) parameters ([0-9a-f]{16})$", re.MULTILINE)


def start_task(folder: Path, offset: int, size: int, world_size: int, port: int) -> Run:
    """Start one task, without our modules: it has to stand alone."""
    flags = f"--offset {offset} --size {size} --world_size {world_size} --epochs 2 --models models"
    argv = [sys.executable, "-I", str(PROGRAM), *flags.split()]
    env = base_env(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    return Run.of_program(folder, f"task-{offset}", argv, env)


@pytest.mark.parametrize("size", [1, pytest.param(2, marks=pytest.mark.extended)])
def test_all_ranks_of_all_tasks_end_with_the_same_parameters(tmp_path: Path, size: int) -> None:
    """``size`` ranks in the first task, and one in the second."""
    ranks = size + 1
    port = free_port()
    tasks = [start_task(tmp_path, 0, size, ranks, port), start_task(tmp_path, size, 1, ranks, port)]
    with ended(tasks) as (master, worker):
        assert (master.wait(), worker.wait()) == (0, 0), master.output + worker.output
        parameters = dict(PARAMETERS.findall(master.output + worker.output))
        losses = master.curve("loss")
        assert not worker.samples
    assert sorted(parameters) == [str(rank) for rank in range(ranks)]
    assert len(set(parameters.values())) == 1
    first, last = sorted(losses)
    assert losses[last] < losses[first]
    state = torch.load(tmp_path / "models" / "model_rank_0.pth", weights_only=True)
    assert state.keys() == Net().state_dict().keys()
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["model_rank_0.pth"]


@pytest.mark.extended
def test_a_task_fails_if_one_of_its_processes_does(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file where the folder should be")
    with ended([start_task(tmp_path, 0, 1, 1, free_port())]) as (task,):
        assert task.wait() == 1
        assert "FileExistsError" in task.output


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--offset -1", "must not be negative"),
        ("--size 0", "at least 1"),
        ("--offset 8 --size 8 --world_size 15", "ranks 8 to 15 are more than"),
        ("", "MASTER_ADDR must name the host of rank 0"),
    ],
)
def test_flags_that_cannot_be_are_refused(
    flags: str,
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(SystemExit, match="2"):
        parse_flags(flags.split())
    assert words in capsys.readouterr().err


def test_ranks_divide_every_epoch_without_a_sample_left() -> None:
    flags = parse_flags(["--size", "3", "--world_size", "3", "--batch_size", "30"])
    shares = [list(batches(100, 0, rank, flags)) for rank in range(3)]
    assert {tuple(map(len, share)) for share in shares} == {(10, 10, 10, 4)}
    assert set(torch.cat([torch.cat(share) for share in shares]).tolist()) == set(range(100))
