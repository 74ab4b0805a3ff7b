"""Flags in the shapes of Run:ai's first command line say what those of the second do."""

import pytest

from projects.models import Project
from spec.workload import WorkloadSpec
from tests.trainyard_cli.terminal import Terminal
from trainyard_cli.flags.older_forms import add_volumes, apply_service_type
from trainyard_cli.flags.values import BadValue
from workloads.models import Workload

LINE = "submit-dist pytorch train -i kubeflow/pytorch-dist-mnist:latest --cpu 0.1"


@pytest.mark.parametrize(
    ("text", "server", "flags"),
    [
        ("/a:/b", "", {"host_path": ["path=/a,mount=/b,readwrite"]}),
        ("/a:/b:ro", "", {"host_path": ["path=/a,mount=/b"]}),
        ("/a:/b::nfs", "", {"nfs": ["path=/a,server=nfs,mountpath=/b,readwrite"]}),
        ("/a:/b:ro", "nfs", {"nfs": ["path=/a,server=nfs,mountpath=/b"]}),
    ],
)
def test_volumes_are_of_the_node_or_of_an_nfs_server(
    text: str, server: str, flags: dict[str, list[str]]
) -> None:
    assert add_volumes({}, [text], nfs_server=server) == flags


@pytest.mark.parametrize("text", ["", "/a", ":/b", "/a:/b:rx", "/a:/b:ro:h:x", "/a,b:/c"])
def test_a_text_that_is_no_volume_is_refused(text: str) -> None:
    with pytest.raises(BadValue, match="is not a volume"):
        add_volumes({}, [text])


def test_a_service_type_says_how_ports_are_reached() -> None:
    ports = {"port": ["30080:80", "81"]}
    made = "service-type=NodePort,container=80,external=30080"
    laid, forwarded = apply_service_type(ports, "nodeport")
    assert (laid["port"], forwarded) == ([made, "service-type=NodePort,container=81"], [])
    laid, _ = apply_service_type(ports, "ingress")
    assert (laid["port"], laid["external_url"]) == ([], ["container=80", "container=81"])
    laid, forwarded = apply_service_type(ports, "portforward")
    assert (laid["port"], forwarded) == ([], ["30080:80", "81"])


def spec(terminal: Terminal, line: str) -> WorkloadSpec:
    return Workload.objects.get(name=terminal(f"{line} -o name").out.strip()).spec


def test_a_forwarded_port_is_in_no_request_and_its_command_printed(
    terminal: Terminal, project: Project
) -> None:
    done = terminal(f"{LINE} --port 8080:80 -s portforward --address 0.0.0.0")
    assert "trainyard port-forward train --port 8080:80 --address 0.0.0.0" in done.err
    assert Workload.objects.get(name="train").spec.worker.connections == ()


def test_volumes_of_a_line_are_stored(terminal: Terminal, project: Project) -> None:
    project.cluster.kind = "kubernetes"
    project.cluster.save()
    line = f"{LINE} -v /raid:/data --mount-propagation -v /x:/y:ro:nfs.example.com"
    storage = spec(terminal, line).worker.storage
    (host,) = storage.host_path
    (share,) = storage.nfs
    assert (host.path, host.mount_path, host.read_only) == ("/raid", "/data", False)
    assert host.mount_propagation == "HostToContainer"
    assert (share.server, share.read_only) == ("nfs.example.com", True)
