"""Ranks started together end together."""

import os
import sys
import time
from pathlib import Path

import pytest

from trainer.errors import UsageError
from trainer.gang import launch
from trainer.gang.identity import Span


@pytest.fixture(autouse=True)
def _no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)


def python(program: str) -> list[str]:
    return [sys.executable, "-c", f"import os, signal, sys, time\n{program}"]


def test_the_first_failure_ends_the_others_and_gives_the_code() -> None:
    program = "sys.exit(7) if os.environ['RANK'] == '1' else time.sleep(60)"
    begun = time.monotonic()
    assert launch.spawn(Span(0, 3, 3), python(program)) == 7
    assert time.monotonic() - begun < 10


def test_a_rank_that_ignores_the_request_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "KILL_DELAY", 0.2)
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    program = f"if os.environ['RANK'] == '0': {deaf}\ntime.sleep(0.5); sys.exit(9)"
    assert launch.spawn(Span(0, 2, 2), python(program)) == 9


def test_a_rank_ended_by_a_signal_counts_as_a_shell_counts() -> None:
    assert launch.spawn(Span(0, 1, 1), python("os.kill(os.getpid(), signal.SIGKILL)")) == 137


def test_each_rank_is_told_who_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASTER_ADDR", "10.0.0.7")
    monkeypatch.setenv("MASTER_PORT", "29400")
    monkeypatch.setenv("PET_NNODES", "2")
    names = "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT PET_NNODES".split()
    program = (
        f"said = [os.environ.get(name, '-') for name in {names}]\n"
        f"open({str(tmp_path)!r} + '/' + os.environ['RANK'], 'w').write(' '.join(said))"
    )
    assert launch.spawn(Span(2, 2, 4), python(program)) == 0
    assert (tmp_path / "2").read_text() == "2 4 0 2 10.0.0.7 29400 -"
    assert (tmp_path / "3").read_text() == "3 4 1 2 10.0.0.7 29400 -"


def test_ranks_elsewhere_need_a_meeting_point() -> None:
    with pytest.raises(UsageError, match="2 of 4 ranks are elsewhere: set MASTER_ADDR"):
        launch.spawn(Span(0, 2, 4), ["true"])


def test_signals_are_passed_on_to_every_rank(tmp_path: Path) -> None:
    parent = os.getpid()
    program = (
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\n"
        f"mine = {str(tmp_path)!r} + '/' + os.environ['RANK']\n"
        "open(mine, 'w').close()\n"
        f"other = {str(tmp_path)!r} + '/' + str(1 - int(os.environ['RANK']))\n"
        "while not os.path.exists(other): time.sleep(0.01)\n"
        f"if os.environ['RANK'] == '0': os.kill({parent}, signal.SIGTERM)\n"
        "time.sleep(60)"
    )
    assert launch.spawn(Span(0, 2, 2), python(program)) == 143
