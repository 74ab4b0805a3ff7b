"""Ports to forward, as they are typed."""

import socket

import pytest

from projects.models import Project
from tests.factories import WorkloadFactory
from tests.trainyard_cli.terminal import Terminal
from trainyard_cli.commands.forward import parse_ports
from trainyard_cli.errors import CliError


@pytest.mark.parametrize(
    ("text", "pair"),
    [("80", (80, 80)), ("8080:80", (8080, 80)), (":80", (0, 80)), ("0:80", (0, 80))],
)
def test_a_port_here_stands_before_that_of_the_rank(text: str, pair: tuple[int, int]) -> None:
    assert parse_ports(text) == pair


@pytest.mark.parametrize("text", ["", "a", "80:", "80:0", "1:2:3", "70000", "-1"])
def test_texts_that_are_no_ports_are_refused(text: str) -> None:
    with pytest.raises(CliError, match="is not LOCAL:REMOTE"):
        parse_ports(text)


def test_a_port_that_is_taken_here_is_told(terminal: Terminal, project: Project) -> None:
    WorkloadFactory(project=project, name="mnist", running=True)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = terminal(f"port-forward mnist --port {port}:80", code=1)
    assert f"Cannot listen at 127.0.0.1:{port}" in done.err
