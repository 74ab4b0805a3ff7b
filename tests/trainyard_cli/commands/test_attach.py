"""Attaching: what a workload prints, to its end, which is that of the command."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pydantic import TypeAdapter

from accounts.models import User
from projects.models import Project
from tests.factories import WorkloadFactory
from tests.trainyard_cli.terminal import Terminal
from trainyard_cli.commands import logs, waiting
from trainyard_cli.errors import CliError, ExitCode
from trainyard_cli.rest.client import split_lines
from workloads.models import Workload


@pytest.fixture
def ended(project: Project, researcher: User, monkeypatch: pytest.MonkeyPatch) -> Workload:
    def at_once(*_: object, **__: object) -> Iterator[None]:
        yield

    monkeypatch.setattr(waiting, "pulses", at_once)
    workload = WorkloadFactory(project=project, name="mnist", failed=True)
    workload.ranks.filter(rank=1).update(exit_code=7)
    return workload


@pytest.mark.parametrize(
    ("line", "rank"),
    [("attach mnist", "all"), ("training pytorch attach mnist --pod worker-0", "1")],
)
def test_attach_prints_the_log_and_exits_like_the_workload(
    terminal: Terminal, ended: Workload, monkeypatch: pytest.MonkeyPatch, line: str, rank: str
) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(logs, "print_logs", lambda *_, **query: asked.update(query))
    assert "mnist: Failed" in terminal(line, code=7).err
    assert asked == {"rank": rank, "follow": "true"}


def test_the_exit_code_is_that_of_the_rank_that_failed_first(
    terminal: Terminal, ended: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rank that was told to end because of it may have a code as well, and come before it."""
    monkeypatch.setattr(logs, "print_logs", lambda *_, **__: None)
    at = timezone.now()
    ranks = ended.ranks
    ranks.filter(rank=0).update(exit_code=143, phase="Stopped", finished_at=at)
    ranks.filter(rank=1).update(phase="Failed", finished_at=at)
    terminal("attach mnist", code=7)
    ranks.filter(rank=0).update(phase="Failed", finished_at=at + timedelta(seconds=1))
    terminal("attach mnist", code=7)
    line = {"rank": 0, "attempt": 0, "offset": 0, "text": "ModuleNotFoundError"}
    rows = Workload.objects.filter(pk=ended.pk)
    rows.update(failure_class="module-missing", failure_line=line)
    terminal("attach mnist", code=143)


def test_attach_exits_like_the_workload_even_if_the_log_breaks(
    terminal: Terminal, ended: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object, **__: object) -> None:
        raise CliError("Cannot reach Trainyard.", code=ExitCode.UNREACHABLE)

    monkeypatch.setattr(logs, "print_logs", cut)
    assert "Waiting for its end instead." in terminal("attach mnist", code=7).err


def test_ctrl_c_ends_the_command_with_its_own_code(
    terminal: Terminal, ended: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(logs, "print_logs", interrupted)
    terminal("attach mnist", code=130)


@pytest.mark.parametrize(
    ("limit", "printed"), [(8, "one\ntwo\n"), (7, "one\n"), (2, ""), (None, "one\ntwo\nthree\n")]
)
def test_no_more_is_printed_than_so_many_bytes(
    capsys: pytest.CaptureFixture[str], limit: int | None, printed: str
) -> None:
    logs.print_lines(
        ["one", "two", "three"], logs.LineFilter(limit=limit), named=False, timed=False
    )
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("chunk", [1, 3, 1000])
def test_lines_end_at_line_feeds_alone(chunk: int) -> None:
    text = "a\u2028b\u0085c\fd\x1ce\n\n 1%\r 2%\r 3%\nend"
    chunks = [text[start : start + chunk] for start in range(0, len(text), chunk)]
    lines = ["a\u2028b\u0085c\fd\x1ce", "", " 1%\r", " 2%\r", " 3%", "end"]
    assert list(split_lines(chunks)) == lines


def test_states_of_a_line_take_each_others_place_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["1 one", "1  50%|█████\r", "1 100%|██████████\r", "1 two"]
    logs.print_lines(lines, logs.LineFilter(), named=True, timed=False)
    assert capsys.readouterr().out == "1 one\n1  50%|█████\r1 100%|██████████\r1 two\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "8")
    monkeypatch.setenv("NO_COLOR", "1")
    logs.print_lines(lines[1:3], logs.LineFilter(), named=True, timed=False)
    erase = "\r\033[K"
    assert capsys.readouterr().out == f"{erase}1  50%|{erase}1 100%|\n"


def test_each_rank_has_a_color_of_its_own_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logs, "is_colored", lambda _: True)
    lines = ["master-0 one", "worker-0 two", "master-0 three"]
    logs.print_lines(lines, logs.LineFilter(), named=True, timed=False)
    assert capsys.readouterr().out.splitlines() == [
        "\033[36mmaster-0\033[0m one",
        "\033[33mworker-0\033[0m two",
        "\033[36mmaster-0\033[0m three",
    ]


def test_a_time_is_judged_by_trainyard(
    terminal: Terminal, ended: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads more forms than any Python from 3.10 on."""
    done = terminal("logs mnist --since-time yesterday", code=2)
    assert "--since-time: 'yesterday' is not a time such as 2026-01-31T00:00:00Z." in done.err
    asked: list[str] = []
    monkeypatch.setattr(logs, "print_logs", lambda *_, **query: asked.append(query["since"]))
    times = ["2026-01-31T00:00:00.5Z", "2026-01-31t00:00:00.123456789z"]
    for time in times:
        terminal(f"logs mnist --since-time {time}")
        assert TypeAdapter(datetime).validate_python(time)
    assert asked == times
