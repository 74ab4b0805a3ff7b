"""A document is changed for this machine, and for fewer processes."""

import re
import socketserver
import subprocess
import sys
from typing import Any

import pytest

from tests.workflows.imports.files import PROGRAM, SEED
from workflows.imports.mapping import map_workflow
from workflows.imports.reading import read_workflow
from workflows.imports.rewriting import (
    PROGRAMS,
    RewrittenDocument,
    parse_size,
    prepare_for_machine,
    resize_tasks,
)


def seed_document() -> dict[str, Any]:
    read = read_workflow(SEED)
    return map_workflow(read, files={PROGRAM: "pass\n"}).graph.groups[0].document


def script(rewritten: RewrittenDocument, role: int) -> str:
    return str(rewritten.document["roles"][role]["storage"]["configMapVolume"][0]["files"])


def test_the_usual_port_becomes_one_of_the_run() -> None:
    rewritten = prepare_for_machine(seed_document(), 40_123)
    assert rewritten.places == ("/tmp/entry.sh of worker", "/tmp/entry1.sh of master")
    assert "nc -z master 40123;" in script(rewritten, 0)
    assert "MASTER_PORT=40123" in script(rewritten, 1)
    assert "29500" not in str(rewritten.document)


def test_numbers_that_contain_the_port_stay() -> None:
    worker: dict[str, Any] = {
        "args": "129500 29500.5 29500",
        "environmentVariables": [{"name": "MASTER_PORT", "value": "29500"}],
    }
    rewritten = prepare_for_machine({"kind": "training", "worker": worker}, 4)
    assert rewritten.document["worker"]["args"] == "129500 29500.5 4"
    assert rewritten.places == ("args", "the variable MASTER_PORT")
    assert worker["args"].endswith("29500"), "the document that was given stays"


def test_all_tasks_start_fewer_processes() -> None:
    rewritten = resize_tasks(seed_document(), parse_size("processes=2, gpus=0 cpu=0.5"))
    assert "--offset 2 --size 2 --world_size 4" in script(rewritten, 0)
    assert "--offset 0 --size 2 --world_size 4" in script(rewritten, 1)
    for role in rewritten.document["roles"]:
        assert role["compute"]["gpuDevicesRequest"] == 0
        assert role["compute"]["cpuCoreRequest"] == 0.5
        assert role["compute"]["cpuMemoryRequest"] == "30Gi"


def test_a_size_without_processes_leaves_programs_alone() -> None:
    rewritten = resize_tasks(seed_document(), parse_size("memory=2Gi"))
    assert rewritten.places == ()
    assert rewritten.document["roles"][0]["compute"]["cpuMemoryRequest"] == "2Gi"


@pytest.mark.parametrize("text", ["2", "gpu=1", "processes=0", "cpu=many", "memory=", "gpus=-1"])
def test_a_wrong_size_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(text))):
        parse_size(text)


@pytest.mark.parametrize("line", ["--size 8", "--offset 8 --size 0 --world_size 16", "no flags"])
def test_lines_without_all_flags_stay(line: str) -> None:
    worker = {"command": "run", "args": line}
    rewritten = resize_tasks({"worker": worker}, {"processes": 2})
    assert rewritten.document["worker"]["args"] == line
    assert rewritten.places == ()


def test_the_programs_for_machines_wait_for_a_port_and_find_an_address() -> None:
    def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        program = str(PROGRAMS / f"{name}.py")
        return subprocess.run(
            [sys.executable, "-I", program, *arguments],
            capture_output=True,
            text=True,
            check=False,
        )

    with socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as server:
        port = str(server.server_address[1])
        assert run("nc", "-z", "127.0.0.1", port).returncode == 0
    closed = run("nc", "-zv", "127.0.0.1", port)
    assert closed.returncode == 1
    assert "refused" in closed.stderr
    answer = run("nslookup", "localhost")
    assert [line for line in answer.stdout.split("\n") if line.startswith("Address: ")] == [
        "Address: 127.0.0.1"
    ]
    assert run("nslookup", "no-such-host.invalid").returncode == 1
