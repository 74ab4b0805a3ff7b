"""Connecting to a login node: who is turned away comes again, and nobody knocks all the time."""

from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from engines.base import EngineUnavailable
from engines.slurm.client import transport
from engines.slurm.client.ssh import Login, connect, end_pause, private_folder
from engines.slurm.client.transport import CommandResult, explain_failure

CHANGED = """\
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
Someone could be eavesdropping on you right now (man-in-the-middle attack)!
It is also possible that a host key has just been changed.
The fingerprint for the ED25519 key sent by the remote host is
SHA256:omejbds8WMn9u4U/TQHGWJ68DI4ZclnTVvL6fskW5yc.
Please contact your system administrator.
Add correct host key in /dev/shm/trainyard-ssh-0/0123456789abcdef.hosts to get rid of this message.
Offending ED25519 key in /dev/shm/trainyard-ssh-0/0123456789abcdef.hosts:1
  remove with:
  ssh-keygen -f "/dev/shm/trainyard-ssh-0/0123456789abcdef.hosts" -R "[login]:22"
Host key for [login]:22 has changed and you have requested strict checking.
Host key verification failed.
"""


def test_a_rejected_login_is_repeated_and_a_wrong_key_tried_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """OpenSSH limits concurrent connections, and shuts out clients with wrong keys."""
    away = CommandResult(255, b"", "kex_exchange_identification: Connection closed by remote host")
    refused = CommandResult(255, b"", "trainyard@login: Permission denied (publickey).")
    silent = CommandResult(255, b"", "ssh: connect to host login port 22: Connection timed out")
    answers: list[CommandResult] = []
    monkeypatch.setattr(transport, "RETRY_PAUSES", (0.0, 0.0))
    monkeypatch.setattr(transport, "RECONNECT", (0.0,))
    monkeypatch.setattr(transport, "run_locally", lambda *_, **__: answers.pop(0))
    login = connect(Login("login", key="a key"), transport.SlurmPrograms(), tmp_path)
    assert "IdentitiesOnly=yes" in login.options
    answers += [away, away, CommandResult(0, b"there", "")]
    assert login.run(["true"]).out == "there"
    for answer, said in ((refused, "does not accept the key"), (silent, "does not answer")):
        answers += [answer, CommandResult(0, b"", "")]
        with pytest.raises(EngineUnavailable, match=said):
            login.run(["true"])
        assert len(answers) == 1
        answers.clear()
    answers += [away] * 3
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        login.run(["true"])


def test_a_changed_host_key_is_reported_despite_long_warnings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    moved = CommandResult(255, b"", CHANGED)
    monkeypatch.setattr(transport, "run_locally", lambda *_, **__: moved)
    login = connect(
        Login("login", known_hosts="login ssh-x y"), transport.SlurmPrograms(), tmp_path
    )
    with pytest.raises(EngineUnavailable) as outage:
        login.run(["true"])
    said = str(outage.value)
    assert "the host key of the login node is not the expected one" in said
    assert "SHA256:omejbds8WMn9u4U/TQHGWJ68DI4ZclnTVvL6fskW5yc" in said
    assert "@" not in said


def test_a_login_node_that_is_away_is_tried_after_growing_pauses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    now = [1000.0]
    tries = list[float]()

    def ssh(*_: object, **__: object) -> CommandResult:
        tries.append(now[0])
        said = "" if len(tries) == 7 else "ssh: connect to host login port 22: Connection refused"
        return CommandResult(0 if len(tries) == 7 else 255, b"", said)

    monkeypatch.setattr(transport, "run_locally", ssh)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    login = connect(Login("login"), transport.SlurmPrograms(), tmp_path)
    while len(tries) < 7:
        with suppress(EngineUnavailable):
            login.run(["true"])
        now[0] += 0.5
    pauses = [after - before for before, after in pairwise(tries)]
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
    with pytest.raises(EngineUnavailable, match="nothing listens at that port"):
        login.run(["true"])
    assert login.outage.failures == 1  # they begin anew
    login.outage.record_failure("another that ran when the connection broke", began=now[0] - 1)
    assert login.outage.failures == 1


def test_pauses_apply_to_all_with_the_same_key_until_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """People with keys of their own get a transport for each thing they do."""
    tries: list[str] = []

    def ssh(line: list[str], **_: object) -> CommandResult:
        tries.append(" ".join(line))
        return CommandResult(255, b"", "ada@login: Permission denied (publickey).")

    monkeypatch.setattr(transport, "run_locally", ssh)
    monkeypatch.setattr(transport, "RECONNECT", (3600.0,))
    ada = Login("login", "ada", key="a wrong key")

    def comes(login: Login) -> int:
        with pytest.raises(EngineUnavailable, match="does not accept the key"):
            connect(login, transport.SlurmPrograms(), tmp_path).run(["true"])
        return len(tries)

    assert [comes(ada), comes(ada)] == [1, 1]
    assert comes(replace(ada, user="bob")) == 2
    assert comes(replace(ada, key="another key")) == 3
    end_pause(ada, tmp_path)
    assert [comes(ada), comes(ada)] == [4, 4]


def test_a_key_is_a_private_file_and_in_no_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines: list[str] = []

    def ssh(line: list[str], **_: object) -> CommandResult:
        lines.append(" ".join(line))
        return CommandResult(0, b"", "")

    monkeypatch.setattr(transport, "run_locally", ssh)
    login = Login("login", key="a secret key", known_hosts="login ssh-ed25519 AAAA")
    connect(login, transport.SlurmPrograms(), tmp_path).run(["true"])
    (key,) = [path for path in tmp_path.iterdir() if "a secret key" in path.read_text()]
    assert key.stat().st_mode & 0o077 == 0
    assert str(key) in lines[0]
    assert "secret" not in lines[0]
    home = private_folder()
    assert (home.stat().st_mode & 0o777, home.parent) == (0o700, Path("/dev/shm"))


def test_a_text_that_is_no_key_is_named_before_the_refusal_that_follows() -> None:
    said = "Load key /dev/shm/a: error in libcrypto\nbob@h: Permission denied (publickey)."
    assert "the private key cannot be read" in explain_failure("h", said)
    assert "does not accept the key" in explain_failure("h", said.splitlines()[1])
