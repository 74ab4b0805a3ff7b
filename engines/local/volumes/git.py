"""Clone repositories with git. Credentials are passed by variables and temporary files, never on a
command line."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from engines.local.records.volume import Volume
from engines.local.volumes.fetcher import Fetcher, Keys
from engines.shared.sources import repository_failed
from spec.data.credential import KNOWN_HOSTS, CredentialKind, credential_kind_for

STAGE = re.compile(r"([A-Z][a-z ]+):\s+(\d+)% ")
#: Nobody could answer a prompt for a password.
ALONE = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
SSH = ("-o", "BatchMode=yes")
#: Git asks for them, and only for this server: a redirect to another does not pass them on.
HELPER = '!f() { printf "username=%s\\npassword=%s\\n" "$GIT_USER" "$GIT_PASSWORD"; }; f'


def steps(volume: Volume, target: Path) -> Iterator[list[str]]:
    branch = ["--branch", volume.branch] if volume.branch else []
    yield [
        "git",
        *_helper(volume),
        "clone",
        "--progress",
        *branch,
        "--",
        volume.origin,
        str(target),
    ]
    if volume.revision:
        quiet = ["-c", "advice.detachedHead=false"]
        yield ["git", "-C", str(target), *quiet, "checkout", "--quiet", volume.revision]


def _helper(volume: Volume) -> list[str]:
    """The credential helper with the password, in place of those of this server's user. A server
    named by http:// is the same by https://, to which it usually redirects."""
    if not volume.credential or _is_by_ssh(volume):
        return []
    address = urlsplit(volume.origin)
    own = [
        f"credential.{scheme}://{address.netloc}.helper={HELPER}"
        for scheme in dict.fromkeys((address.scheme, "https"))
    ]
    return ["-c", "credential.helper=", *(word for option in own for word in ("-c", option))]


def variables(volume: Volume, keys: Keys, scratch: Path) -> dict[str, str]:
    if _is_by_ssh(volume):
        return {**ALONE, "GIT_SSH_COMMAND": shlex.join(["ssh", *SSH, *_ssh(volume, keys, scratch)])}
    if not volume.credential:
        return ALONE
    return {**ALONE, "GIT_USER": keys["User"], "GIT_PASSWORD": keys["Password"]}


def _ssh(volume: Volume, keys: Keys, scratch: Path) -> list[str]:
    """The ssh command: only with the given key, not with those of this server's user. An unknown
    host is trusted, unless the credential names known hosts."""
    if not volume.credential:
        return ["-o", "StrictHostKeyChecking=accept-new"]
    key = scratch / "key"
    hosts = scratch / "hosts"
    key.touch(mode=0o600)
    key.write_text(f"{keys['ssh'].rstrip()}\n")  # ssh rejects a key without a final line break
    words = ["-F", "none", "-i", str(key), "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none"]
    if KNOWN_HOSTS not in keys:
        return [*words, "-o", "StrictHostKeyChecking=accept-new"]
    hosts.write_text(f"{keys[KNOWN_HOSTS]}\n")
    quoted = str(hosts).replace("%", "%%")
    only = [f'UserKnownHostsFile="{quoted}"', "GlobalKnownHostsFile=none"]
    return [*words, "-o", "StrictHostKeyChecking=yes", *(it for one in only for it in ("-o", one))]


def _is_by_ssh(volume: Volume) -> bool:
    return credential_kind_for("git", volume.origin) is CredentialKind.SSH_KEY


def progress(said: str) -> str:
    stages = STAGE.findall(said)
    return f"{stages[-1][0].lower()} {stages[-1][1]} %" if stages else ""


def trouble(volume: Volume, said: str) -> str:
    lines = re.split(r"[\r\n]+", said.strip())
    grave = [line for line in lines if line.startswith(("fatal:", "error:", "Host key"))] or lines
    failed = repository_failed(
        volume.origin,
        volume.place,
        at=volume.revision or volume.branch,
        opened=bool(volume.credential),
    )
    return f"{failed} {' '.join(grave[-3:]).rstrip('.')}."


GIT = Fetcher(steps, variables, progress, trouble)
