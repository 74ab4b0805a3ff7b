"""Signing in, staying signed in, signing out: what is kept, and what is never shown."""

import json
import stat
import time
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.conf import settings
from django.utils import timezone

from accounts.devices import sign_ins
from accounts.models import AccessKey, DeviceSignIn, User
from projects.models import Project
from tests.factories import PASSWORD, ProjectFactory
from tests.trainyard_cli.terminal import Terminal
from trainyard_cli.commands import session


def test_signing_in_keeps_a_key_that_only_its_owner_can_read(
    nobody: Terminal, project: Project, researcher: User
) -> None:
    done = nobody.sign_in("ada", PASSWORD)
    assert "Signed in" in done.err
    kept = nobody.config.read_text()
    assert stat.S_IMODE(nobody.config.stat().st_mode) == 0o600
    assert stat.S_IMODE(nobody.config.parent.stat().st_mode) == 0o700
    assert PASSWORD not in kept
    assert json.loads(kept)["client_id"] == researcher.access_keys.get().client_id
    assert nobody("whoami").rows[0] == ["User:", "ada"]
    ends = researcher.access_keys.get().expires_at
    assert ends
    assert timedelta(days=89) < ends - timezone.now() <= timedelta(days=90)


def test_a_code_that_is_approved_in_the_browser_signs_in(
    nobody: Terminal, project: Project, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def approve(_: float) -> None:
        sign_ins.approve(DeviceSignIn.objects.get(), by=researcher)

    monkeypatch.setattr(session, "sleep", approve)
    done = nobody(f"login --server {nobody.server}")
    code = DeviceSignIn.objects.get().code
    assert f"Open   {nobody.server}/device/?code={code}" in done.err
    assert "Signed in to" in done.err
    assert nobody("whoami").rows[0] == ["User:", "ada"]
    assert "team-a" in nobody("project list -o name").out
    assert AccessKey.objects.count() == 1


def test_a_code_that_is_denied_signs_nobody_in(
    nobody: Terminal, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(_: float) -> None:
        sign_ins.deny(DeviceSignIn.objects.get(), by=researcher)

    monkeypatch.setattr(session, "sleep", deny)
    assert "was denied" in nobody(f"login --server {nobody.server}", code=1).err
    assert not nobody.config.exists()


def test_the_words_of_run_ai_sign_in_too(nobody: Terminal, project: Project) -> None:
    nobody(f"login user --server {nobody.server} -u ada --password-stdin", typed=PASSWORD)
    assert "TRAINYARD_CLIENT_ID" in nobody("login application", code=2).err


def test_neither_password_nor_key_is_printed(nobody: Terminal, project: Project) -> None:
    signed = nobody.sign_in("ada", PASSWORD)
    secret = json.loads(nobody.config.read_text())["client_secret"]
    lines = [signed, nobody("--debug list jobs"), nobody("whoami -o json"), nobody("logout")]
    printed = "".join(done.out + done.err for done in lines)
    assert PASSWORD not in printed
    assert secret not in printed
    assert "Bearer" not in printed
    assert "GET /api/v1/workloads 200" in printed


def test_a_password_is_not_accepted_on_the_command_line(nobody: Terminal) -> None:
    for flag in ("-p", "--password"):
        done = nobody(f"login user --server {nobody.server} -u ada {flag} secret", code=2)
        assert "does not belong on a command line" in " ".join(done.err.replace("│", " ").split())
    assert "--password " not in nobody("login --help").out.replace("--password-stdin", "")


def test_the_only_project_is_set_at_sign_in(nobody: Terminal, project: Project) -> None:
    nobody.sign_in("ada", PASSWORD)
    assert nobody("whoami").rows[2] == ["Project:", "team-a"]


def test_of_several_projects_one_is_set_by_name(
    nobody: Terminal, project: Project, researcher: User
) -> None:
    ProjectFactory(name="team-b", cluster=project.cluster, members=[researcher])
    assert "trainyard project set" in nobody.sign_in("ada", PASSWORD).err
    nobody("list jobs", code=2)
    nobody("config project team-b")
    assert nobody("whoami").rows[2] == ["Project:", "team-b"]
    assert "Yours: team-a, team-b." in nobody("project set team-c", code=4).err


def test_a_wrong_password_is_told_as_that(nobody: Terminal, project: Project) -> None:
    done = nobody(f"login --server {nobody.server} -u ada --password-stdin", typed="no", code=3)
    assert done.err.splitlines()[-2:] == [
        "trainyard: The user name or the password is wrong.",
        "Try again: trainyard login --user ada",
    ]
    assert not nobody.config.exists()


def test_a_token_that_ends_is_replaced_unseen(terminal: Terminal) -> None:
    terminal("whoami")
    kept = json.loads(terminal.config.read_text())
    first = kept["token"]
    terminal.config.write_text(json.dumps(kept | {"token": "old", "expires": time.time() + 9e9}))
    terminal("whoami")  # the server says that it is none
    terminal.config.write_text(json.dumps(kept | {"expires": 0}))
    terminal("whoami")
    assert json.loads(terminal.config.read_text())["expires"] > time.time()
    assert first != "old"


def test_signing_in_again_leaves_one_key_and_signing_out_none(terminal: Terminal) -> None:
    terminal.sign_in("ada", PASSWORD)
    assert AccessKey.objects.count() == 1
    terminal("logout")
    assert AccessKey.objects.count() == 0
    assert 'client_secret": ""' in terminal.config.read_text()
    assert "trainyard login" in terminal("whoami", code=3).err


def test_a_key_that_was_deleted_elsewhere_asks_to_sign_in(terminal: Terminal) -> None:
    AccessKey.objects.all().delete()
    for line in ("list jobs", "bash mnist", "whoami"):
        done = terminal(line, code=3)
        assert "access key" in done.err
        assert "Sign in: trainyard login" in done.err
    terminal("logout")
    terminal.sign_in("ada", PASSWORD)


def test_whoami_says_when_the_key_ends(terminal: Terminal, researcher: User) -> None:
    terminal.sign_in("ada", PASSWORD)
    ends = researcher.access_keys.get().expires_at
    assert ends
    assert terminal("whoami").rows[-1] == ["Key", "ends:", f"{ends:%Y-%m-%d}"]
    assert json.loads(terminal("whoami -o json").out)["role"] == ""
    assert terminal("whoami -o name").out == "ada\n"


def test_the_version_is_that_of_both_sides(terminal: Terminal) -> None:
    first, second = terminal("version").out.splitlines()
    assert first.startswith("trainyard ")
    assert second == f"Trainyard {settings.VERSION} at {terminal.server}"
    assert terminal("--version").out == f"{first}\n"
    terminal("logout")
    assert terminal("version").out == f"{first}\n"


def test_the_version_is_printed_without_trainyard_and_without_a_key(
    terminal: Terminal,
) -> None:
    first = terminal("--version").out
    AccessKey.objects.all().delete()
    done = terminal("version")
    assert (done.out, "The access key of this machine has ended" in done.err) == (first, True)
    kept = json.loads(terminal.config.read_text())
    terminal.config.write_text(json.dumps(kept | {"server": "http://127.0.0.1:9"}))
    done = terminal("version")
    assert (done.out, "Cannot reach Trainyard at" in done.err) == (first, True)


def test_programs_sign_in_by_their_environment(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = json.loads(terminal.config.read_text())
    terminal.config.unlink()
    for name, value in (
        ("SERVER", terminal.server),
        ("CLIENT_ID", kept["client_id"]),
        ("CLIENT_SECRET", kept["client_secret"]),
    ):
        monkeypatch.setenv(f"TRAINYARD_{name}", value)
    assert "team-a" in terminal("project list -o name").out
    assert terminal("whoami -o name").out == "ada\n"
    assert not terminal.config.exists(), "there is nothing to keep"
    terminal("project set team-a")
    assert kept["client_secret"] not in terminal.config.read_text()
    assert "win over this sign-in" in terminal.sign_in("ada", PASSWORD).err
    monkeypatch.setenv("TRAINYARD_CLIENT_SECRET", "another")
    done = terminal("list jobs", code=3)
    assert "TRAINYARD_CLIENT_ID and TRAINYARD_CLIENT_SECRET do not hold a valid" in done.err


def test_a_server_that_does_not_answer_is_named(nobody: Terminal) -> None:
    line = "login --server http://127.0.0.1:9 -u ada --password-stdin"
    assert "Cannot reach Trainyard at http://127.0.0.1:9" in nobody(line, typed="x", code=5).err


@pytest.mark.parametrize("address", ["http://", "host:x", "ftp://host", "host:0", "host:99999"])
def test_an_address_that_is_none_is_refused(nobody: Terminal, address: str) -> None:
    done = nobody(f"login --server {address} -u ada --password-stdin", typed="x", code=2)
    assert f"{address} is not an address" in done.err


def test_a_sign_in_file_that_cannot_be_read_says_what_to_do(nobody: Terminal) -> None:
    nobody.config.parent.mkdir()
    nobody.config.write_text("{")
    assert "sign in again: trainyard login" in nobody("whoami", code=3).err


def test_a_key_is_never_sent_to_another_server(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = terminal.config.read_text()
    elsewhere = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    elsewhere.socket.settimeout(0)
    monkeypatch.setenv("TRAINYARD_SERVER", f"http://127.0.0.1:{elsewhere.server_port}")
    assert "You are not signed in." in terminal("whoami", code=3).err
    assert "nothing was changed" in terminal("logout").err
    for client_id in ("another", json.loads(kept)["client_id"]):  # without a secret of its own
        monkeypatch.setenv("TRAINYARD_CLIENT_ID", client_id)
        assert "You are not signed in." in terminal("whoami", code=3).err
    monkeypatch.delenv("TRAINYARD_CLIENT_ID")
    with elsewhere, pytest.raises(BlockingIOError):  # nobody came
        elsewhere.socket.accept()
    assert terminal.config.read_text() == kept
    monkeypatch.setenv("TRAINYARD_SERVER", f"{terminal.server}/")
    assert terminal("whoami").rows[0] == ["User:", "ada"]
