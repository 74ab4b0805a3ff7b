"""A Slurm cluster is added by form, by REST and by the command line, and its key stays secret."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from clusters import connection_tests
from clusters.connections import engine_for
from clusters.kinds.slurm.kind import SLURM
from clusters.kinds.slurm.settings import SlurmSecret, SlurmSettings
from clusters.models import Cluster, ConnectionTest
from engines.base import EngineUnavailable
from engines.slurm.client import transport
from engines.slurm.client.transport import CommandResult, LocalTransport, SshTransport
from tests.caller import Caller
from tests.factories import UserFactory
from tests.web import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
NEW = "/clusters/new/?kind=slurm"
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----"
VALUES = {"kind": "slurm", "name": "hpc", "host": "login.example.com", "directory": "/shared/ty"}


@pytest.fixture
def admin() -> Client:
    return signed_in(UserFactory(administrator=True))


def test_the_form_adds_it_and_never_shows_its_key(admin: Client) -> None:
    admin.post(NEW, {"action": "save", **VALUES, "user": "ty", "private_key": KEY})
    cluster = Cluster.objects.get()
    assert SlurmSecret.of(cluster.connection).private_key == KEY
    assert SlurmSettings.of(cluster).site.directory == "/shared/ty"
    for page in ("", "edit/", "connection/"):
        assert "c2VjcmV0" not in admin.get(f"{cluster.get_absolute_url()}{page}").content.decode()


def test_people_can_act_by_their_own_keys_on_a_login_node_alone(admin: Client) -> None:
    own = {"action": "save", **VALUES, "run_as": "people", "users": "ada alovelace"}
    answer = admin.post(NEW, {**own, "host": ""})
    assert set(answer.context["form"].errors) == {"run_as"}
    admin.post(NEW, own)
    settings = SlurmSettings.of(Cluster.objects.get())
    assert [settings.login_name(it) for it in ("ada", "bob")] == ["alovelace", "bob"]
    assert settings.site.own_names


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("host", "-oProxyCommand=evil"),
        ("user", "a b"),
        ("port", "zero"),
        ("directory", "shared"),
        ("directory", "/shared/'; rm -rf /"),
        ("partition", "gpu,other"),
        ("accounts", "research"),
        ("accounts", "research vi,sion"),
        ("accounts", "research vision\nresearch speech"),
        ("users", "ada"),
        ("users", "ada -oProxyCommand=evil"),
        ("private_key", "ssh-ed25519 AAAA"),
        ("private_key", KEY.replace("OPENSSH", "ENCRYPTED")),
    ],
)
def test_the_form_says_what_is_wrong(admin: Client, field: str, value: str) -> None:
    answer = admin.post(NEW, {"action": "save", **VALUES, field: value})
    assert answer.status_code == 422
    assert set(answer.context["form"].errors) == {field}
    assert not Cluster.objects.exists()


def test_only_a_key_that_was_entered_is_kept_for_the_next_try(admin: Client) -> None:
    for key, kept in ((KEY, True), ("", False)):
        answer = admin.post(NEW, {"action": "test", **VALUES, "private_key": key}, follow=True)
        assert ("the one you just entered" in answer.content.decode()) is kept


def test_a_project_may_have_an_account_of_its_own(admin: Client) -> None:
    lines = "research vision\r\n\r\nphysics  speech"
    admin.post(NEW, {"action": "save", **VALUES, "account": "main", "accounts": lines})
    site = SlurmSettings.of(Cluster.objects.get()).site
    charged = [site.account_of(it) for it in ("research", "physics", "other")]
    assert charged == ["vision", "speech", "main"]


def test_rest_adds_it_and_changes_where_it_keeps_files() -> None:
    call = Caller(UserFactory(administrator=True))
    body: dict[str, Any] = {**VALUES, "privateKey": KEY}
    status, made = call("POST", "/clusters", body)
    assert (status, made["kind"], made["settings"]["directory"]) == (201, "slurm", "/shared/ty")
    assert "c2VjcmV0" not in str(made)
    status, answer = call("PUT", f"/clusters/{made['uuid']}", {"directory": "here"})
    assert (status, answer["complianceIssues"][0]["field"]) == (400, "directory")


def test_the_command_line_reads_files_and_says_what_lacks(tmp_path: Path) -> None:
    for options in ({}, {"directory": "/shared", "private_key": tmp_path / "none"}):
        with pytest.raises(CommandError, match=r"--directory|cannot be read"):
            call_command("add_cluster", "hpc", kind="slurm", stdout=StringIO(), **options)


def test_a_cluster_is_reached_on_this_host_or_by_ssh(admin: Client) -> None:
    admin.post(
        NEW, {"action": "save", **VALUES, "private_key": KEY, "known_hosts": "login ssh-x y"}
    )
    transport = SLURM.connect(Cluster.objects.get())._transport  # type: ignore[attr-defined]  # what it is connected by
    assert isinstance(transport, SshTransport)
    words = " ".join(transport.options)
    assert "StrictHostKeyChecking=yes" in words
    assert "ControlMaster=auto" in words
    assert KEY not in words
    admin.post(NEW, {"action": "save", **VALUES, "name": "here", "host": ""})
    here = SLURM.connect(Cluster.objects.get(name="here"))
    assert isinstance(here._transport, LocalTransport)  # type: ignore[attr-defined]  # the same


def test_a_connection_that_somebody_tests_is_tried_at_once(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who has just added the key does not wait for the end of a pause."""
    tries: list[object] = []

    def ssh(line: object, **_: object) -> CommandResult:
        tries.append(line)
        return CommandResult(255, b"", "ty@login: Permission denied (publickey).")

    monkeypatch.setattr(transport, "run_locally", ssh)
    monkeypatch.setattr(transport, "RECONNECT", (3600.0,))
    admin.post(NEW, {"action": "save", **VALUES, "private_key": KEY})
    cluster = Cluster.objects.get()
    for _ in range(2):
        with pytest.raises(EngineUnavailable):
            engine_for(cluster).check()
    assert len(tries) == 1
    admin.post(f"/clusters/{cluster.pk}/test/")
    connection_tests.run(ConnectionTest.objects.get())
    assert len(tries) == 2
    admin.post(NEW, {"action": "test", **VALUES, "name": "again", "private_key": KEY})
    connection_tests.run(ConnectionTest.objects.get(cluster=None))
    assert len(tries) == 3
