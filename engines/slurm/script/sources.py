"""Renders the scripts that fetch repositories and buckets to the shared directory before the ranks
start, one copy for the whole run. The batch script calls them. Keys are in separate files. Pure."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from engines.base import Launch
from engines.shared.sources import bucket_failed, repository_failed
from engines.slurm.layout import SharedFolder
from engines.slurm.script.site import SlurmSite
from spec.data.credential import KNOWN_HOSTS, CredentialKind, credential_kind_for
from spec.data.places import volume_variable
from spec.data.storage import S3, Git
from spec.values.variable import MASK, NamedCredential
from spec.workload import Pod, Replica

FOLDER = Path(__file__).parent
FETCH = "fetch.sh"
KEYS = "keys"
#: A credential helper that git calls, for the repository's server only.
HELPER = '!f() { printf "username=%s\\npassword=%s\\n" "$GIT_USER" "$GIT_PASSWORD"; }; f'
#: Variables for the keys of a credential, as git's helper and ``aws`` expect them.
VARIABLES = {
    CredentialKind.PASSWORD: {"User": "GIT_USER", "Password": "GIT_PASSWORD"},
    CredentialKind.ACCESS_KEY: {
        "AccessKeyId": "AWS_ACCESS_KEY_ID",
        "SecretKey": "AWS_SECRET_ACCESS_KEY",
    },
}


@dataclass(frozen=True)
class FetchedSource:
    """A data source to fetch. ``path`` is its path according to the spec."""

    number: int
    item: Git | S3

    @property
    def path(self) -> str:
        return self.item.path

    @property
    def variable(self) -> str:
        return volume_variable(self.path)

    @property
    def credential_kind(self) -> CredentialKind:
        return (
            credential_kind_for("git", self.item.repository)
            if isinstance(self.item, Git)
            else credential_kind_for("s3", "")
        )


def fetched_sources(launch: Launch) -> list[FetchedSource]:
    """Return all data sources of a launch. Those that master and workers share are fetched once."""
    roles = launch.spec.described_roles
    items = dict.fromkeys(item for role in roles for item in _items(role.replica))
    return [FetchedSource(number, item) for number, item in enumerate(items)]


def pod_sources(launch: Launch, pod: Pod) -> list[FetchedSource]:
    """Return the data sources that a pod reads."""
    items = set(_items(pod.replica))
    return [source for source in fetched_sources(launch) if source.item in items]


def _items(replica: Replica) -> tuple[Git | S3, ...]:
    return (*replica.storage.git, *replica.storage.s3)


def folder_of(launch: Launch, site: SlurmSite, source: FetchedSource) -> str:
    """Return the folder into which a data source is fetched."""
    folder = SharedFolder(site.directory, launch.handle.workload_id)
    return f"{folder.run(launch.run)}/volumes/{source.number}"


def replace_paths(text: str, launch: Launch, site: SlurmSite) -> str:
    """Replace the paths of data sources, and paths below them, by their folders. The nodes have
    nothing at these paths, and users cannot mount anything there."""
    for source in sorted(fetched_sources(launch), key=lambda it: -len(it.path)):
        pattern = rf"(?<![\w./$-]){re.escape(source.path.rstrip('/'))}(?![\w.-])"
        folder = folder_of(launch, site, source)
        text = re.sub(pattern, folder.replace("\\", r"\\"), text)
    return text


def fetch_files(launch: Launch, site: SlurmSite, *, masked: bool) -> dict[str, str]:
    """Return the files that fetch the data sources, by name below the folder of the run; none if
    nothing is fetched."""
    fetched = fetched_sources(launch)
    if not fetched:
        return {}
    prologue = site.prologue.replace("\r\n", "\n").strip()
    calls = "".join(f"{_fetch_call(source)} || exit 1\n" for source in fetched)
    text = "#!/bin/bash\n# Brings what the ranks read to the shared directory.\n"
    prologue += "\n" if prologue else ""
    results = {FETCH: f"{text}{(FOLDER / FETCH).read_text()}\n{prologue}{calls}"}
    for source in fetched:
        if credential := source.item.credential:
            results |= dict(_key_files(launch, source, credential, masked=masked))
    return results


def _fetch_call(source: FetchedSource) -> str:
    item = source.item
    has_credential = bool(source.item.credential)
    if isinstance(item, Git):
        revision = item.revision or item.branch or ""
        failed = repository_failed(item.repository, source.path, at=revision, opened=has_credential)
        helper = (
            _helper(item)
            if has_credential and source.credential_kind is CredentialKind.PASSWORD
            else ""
        )
        arguments = ["git_source", item.repository, item.branch or "", item.revision or "", helper]
        return shlex.join(
            ["fetch", str(source.number), item.repository, source.path, failed, *arguments]
        )
    address = f"s3://{item.bucket}"
    failed = bucket_failed(address, source.path, url=item.url or "", opened=has_credential)
    arguments = ["s3_source", item.bucket, item.url or ""]
    return shlex.join(["fetch", str(source.number), address, source.path, failed, *arguments])


def _helper(git: Git) -> str:
    """Return git's option for the password. It replaces the helpers that Trainyard's user has on
    the cluster."""
    server = "{0.scheme}://{0.netloc}".format(urlsplit(git.repository))
    return f"credential.{server}.helper={HELPER}"


def _key_files(
    launch: Launch, source: FetchedSource, credential: NamedCredential, *, masked: bool
) -> Iterator[tuple[str, str]]:
    """Yield files with keys. Only their owner can read them, and they are removed once everything
    is fetched."""
    path = f"{KEYS}/{source.number}"

    def value(key: str) -> str:
        return MASK if masked else launch.value_of(credential, key)

    if source.credential_kind is CredentialKind.SSH_KEY:
        yield f"{path}.key", f"{value('ssh').rstrip()}\n"  # ssh needs the line break
        if hosts := launch.value_of(credential, KNOWN_HOSTS):
            yield f"{path}.hosts", f"{hosts}\n"
        return
    names = VARIABLES[source.credential_kind].items()
    yield f"{path}.sh", "".join(f"export {it}={shlex.quote(value(key))}\n" for key, it in names)
