"""Tools as Run:ai's requests have them."""

from typing import Any

import pytest

from spec.formats import documents
from spec.formats.connections import path_in_request
from spec.parts.environment import Access, ConnectionType
from tests.documents import says

JUPYTER = {
    "container": 8888,
    "toolType": "jupyter-notebook",
    "toolName": "Notebook",
    "authorizationType": "authorizedUsers",
    "authorizedUsers": ["ada"],
}
BOARD = {"container": 6006, "serviceType": "NodePort", "external": 30_100}
FLAT = {"image": "img:1", "numWorkers": 2, "distributedFramework": "PyTorch"}


def test_urls_and_ports_become_connections() -> None:
    flat = FLAT | {"exposedUrls": [JUPYTER], "ports": [BOARD, {"container": 9000}]}
    spec = documents.load_spec(documents.from_wire(flat, no_master=True, master=None))
    notebook, board, inside = spec.worker.connections
    assert (notebook.name, notebook.container_port) == ("Notebook", 8888)
    assert notebook.connection_type is ConnectionType.EXTERNAL_URL
    assert (notebook.authorization_type, notebook.authorized_users) == (Access.USERS, ("ada",))
    assert (board.name, board.node_port) == ("Port 6006", 30_100)
    assert board.connection_type is ConnectionType.NODE_PORT
    assert inside.connection_type is ConnectionType.CLUSTER_IP


def test_a_master_has_its_own() -> None:
    master = {"image": "img:1", "exposedUrls": [JUPYTER]}
    nested = documents.from_wire(FLAT, no_master=False, master=master)
    spec = documents.load_spec(nested)
    assert spec.master
    assert spec.master.connections[0].name == "Notebook"
    assert says(documents.master_to_wire(documents.dump_spec(spec)), master)


def test_tools_come_back_in_the_form_in_which_they_were_sent() -> None:
    board = BOARD | {"toolName": "Board"}
    flat = FLAT | {"exposedUrls": [JUPYTER | {"url": "https://a.example.com"}], "ports": [board]}
    nested = documents.from_wire(flat, no_master=True, master=None)
    spec = documents.load_spec(nested)
    wire = documents.to_wire(documents.dump_spec(spec))
    assert says(wire, flat)
    assert documents.load_spec(documents.from_wire(wire, no_master=True, master=None)) == spec


@pytest.mark.parametrize("odd", ["8888", [8888], {"container": 1}])
def test_tools_that_are_no_list_are_refused_by_the_spec(odd: object) -> None:
    nested = documents.from_wire(FLAT | {"ports": odd}, no_master=True, master=None)
    with pytest.raises(ValueError, match=r"worker\.(ports|connections)"):
        documents.load_spec(nested)


@pytest.mark.parametrize(
    ("path", "given"),
    [
        (("connections", 0, "containerPort"), ("connections", 0, "containerPort")),
        (("connections", 1, "containerPort"), ("exposedUrls", 0, "container")),
        (("connections", 2, "externalUrl"), ("exposedUrls", 1, "url")),
        (("connections", 3, "connectionType"), ("ports", 0, "serviceType")),
        (("connections",), ("connections",)),
        (("image",), ("image",)),
    ],
)
def test_a_wrong_part_of_a_tool_is_named_as_it_was_given(
    path: tuple[str | int, ...], given: tuple[str | int, ...]
) -> None:
    replica: dict[str, Any] = {"connections": [{}], "exposedUrls": [{}, {}], "ports": [{}]}
    assert path_in_request(replica, path) == given


@pytest.mark.parametrize("odd", [5, None, True])
def test_tools_that_are_no_list_hold_nothing(odd: object) -> None:
    path = ("connections", 0, "name")
    assert path_in_request({"connections": [{}], "exposedUrls": odd, "ports": odd}, path) == path
