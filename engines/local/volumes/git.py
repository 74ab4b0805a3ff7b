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
#: Variables that keep git from asking for a password, which nobody could enter.
NONINTERACTIVE = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
SSH = ("-o", "BatchMode=yes")
#: A helper that git runs to get the password. Git runs it only for the repository's server, so a
#: redirect to another server does not pass the password on.
HELPER = '!f() { printf "username=%s\\npassword=%s\\n" "$GIT_USER" "$GIT_PASSWORD"; }; f'


def commands(volume: Volume, target: Path) -> Iterator[list[str]]:
    """Yield the commands that clone a repository and check out its revision."""
    branch = ["--branch", volume.branch] if volume.branch else []
    clone = ["clone", "--progress", *branch, "--", volume.origin, str(target)]
    yield ["git", *_credential_options(volume), *clone]
    if volume.revision:
        quiet = ["-c", "advice.detachedHead=false"]
        yield ["git", "-C", str(target), *quiet, "checkout", "--quiet", volume.revision]


def _credential_options(volume: Volume) -> list[str]:
    """Return options that replace the credential helpers of this server's user by one that knows
    the password."""
    if not volume.credential or _is_by_ssh(volume):
        return []
    address = urlsplit(volume.origin)
    options = ["-c", "credential.helper="]
    # A server named by http:// is also trusted by https://, to which it usually redirects.
    for scheme in dict.fromkeys((address.scheme, "https")):
        options += ["-c", f"credential.{scheme}://{address.netloc}.helper={HELPER}"]
    return options


def variables(volume: Volume, keys: Keys, scratch: Path) -> dict[str, str]:
    """Return the environment of git, with the credential of the volume."""
    if _is_by_ssh(volume):
        command = shlex.join(["ssh", *SSH, *_ssh_options(volume, keys, scratch)])
        return {**NONINTERACTIVE, "GIT_SSH_COMMAND": command}
    if not volume.credential:
        return NONINTERACTIVE
    return {**NONINTERACTIVE, "GIT_USER": keys["User"], "GIT_PASSWORD": keys["Password"]}


def _ssh_options(volume: Volume, keys: Keys, scratch: Path) -> list[str]:
    """Return options by which ssh uses only the key of the credential, and none of this server's
    user. An unknown host is trusted, unless the credential names known hosts."""
    if not volume.credential:
        return ["-o", "StrictHostKeyChecking=accept-new"]
    key = scratch / "key"
    key.touch(mode=0o600)
    key.write_text(f"{keys['ssh'].rstrip()}\n")  # ssh rejects a key without a final line break
    options = ["-F", "none", "-i", str(key), "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none"]
    if KNOWN_HOSTS not in keys:
        return [*options, "-o", "StrictHostKeyChecking=accept-new"]
    hosts = scratch / "hosts"
    hosts.write_text(f"{keys[KNOWN_HOSTS]}\n")
    quoted = str(hosts).replace("%", "%%")
    for option in (
        "StrictHostKeyChecking=yes",
        f'UserKnownHostsFile="{quoted}"',
        "GlobalKnownHostsFile=none",
    ):
        options += ["-o", option]
    return options


def _is_by_ssh(volume: Volume) -> bool:
    return credential_kind_for("git", volume.origin) is CredentialKind.SSH_KEY


def describe_progress(output: str) -> str:
    """Return the last stage in git's output, such as ``receiving objects 40 %``."""
    stages = STAGE.findall(output)
    if not stages:
        return ""
    name, percent = stages[-1]
    return f"{name.lower()} {percent} %"


def describe_failure(volume: Volume, output: str) -> str:
    """Return a sentence about a failed clone, with the last errors in git's output."""
    lines = re.split(r"[\r\n]+", output.strip())
    errors = [line for line in lines if line.startswith(("fatal:", "error:", "Host key"))] or lines
    failure = repository_failed(
        volume.origin,
        volume.place,
        at=volume.revision or volume.branch,
        opened=bool(volume.credential),
    )
    return f"{failure} {' '.join(errors[-3:]).rstrip('.')}."


GIT_FETCHER = Fetcher(commands, variables, describe_progress, describe_failure)
