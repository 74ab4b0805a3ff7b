"""Stores the keys, known hosts and shared connection of a login node in files that only Trainyard's
user may read."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from engines.slurm.client.transport import Outage, SlurmPrograms, SshTransport

CONNECT_SECONDS = 10
UNUSED_SECONDS = 120  # seconds that the shared connection stays open unused
#: Outages by the path of the shared connection. They are not in the transport, because each action
#: of a user with their own key creates a new one.
_outages: dict[Path, Outage] = {}


@dataclass(frozen=True)
class Login:
    """A login node and Trainyard's user there. With port 0, ssh chooses the port. Without ``key``,
    it uses the keys of this server's user. If ``known_hosts`` is missing as well, the first key of
    the host is accepted and stored."""

    host: str
    user: str = ""
    port: int = 0
    key: str = ""
    known_hosts: str = ""

    @property
    def mark(self) -> str:
        """A name that all transports with the same key to the same host share."""
        words = (self.host, self.user, str(self.port), self.key, self.known_hosts)
        return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


def connect(login: Login, programs: SlurmPrograms, folder: Path | None = None) -> SshTransport:
    """Return a transport to a login node. Its files are in ``folder``, by default a private folder
    in memory. Their names are short, because the path of a socket must be short."""
    home = folder or private_folder()
    socket = home / f"{login.mark}.s"
    hosts = home / f"{login.mark}.hosts"
    if login.known_hosts:
        write_file(hosts, login.known_hosts)
    settings = {
        "BatchMode": "yes",
        "ConnectTimeout": str(CONNECT_SECONDS),
        "ControlMaster": "auto",
        "ControlPath": str(socket),
        "ControlPersist": str(UNUSED_SECONDS),
        "ServerAliveInterval": "5",
        "ServerAliveCountMax": "3",
        "LogLevel": "ERROR",
    }
    settings |= {"User": login.user} if login.user else {}
    settings |= {"Port": str(login.port)} if login.port else {}
    if login.key or login.known_hosts:
        strict = "yes" if login.known_hosts else "accept-new"
        settings |= {"StrictHostKeyChecking": strict, "UserKnownHostsFile": str(hosts)}
    if login.key:
        key = home / f"{login.mark}.key"
        write_file(key, login.key.replace("\r\n", "\n").strip() + "\n")
        settings |= {"IdentityFile": str(key), "IdentitiesOnly": "yes"}
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    return SshTransport(login.host, options, programs, _outages.setdefault(socket, Outage()))


def end_pause(login: Login, folder: Path | None = None) -> None:
    """Let the next command connect at once, because a user has just repaired the cause of an
    outage."""
    if outage := _outages.get((folder or private_folder()) / f"{login.mark}.s"):
        outage.end()


def private_folder() -> Path:
    memory = Path("/dev/shm")  # noqa: S108 -- in memory, and a folder of our own
    parent = memory if os.access(memory, os.W_OK) else Path(tempfile.gettempdir())
    home = parent / f"trainyard-ssh-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    if home.stat().st_uid != os.getuid():
        raise PermissionError(f"{home} belongs to another user")
    home.chmod(0o700)
    return home


def write_file(path: Path, text: str) -> None:
    """Write a file in one step, because several processes write it."""
    number, draft = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(number, "w") as file:
        file.write(text if text.endswith("\n") else text + "\n")
    Path(draft).replace(path)
