"""Fetch repositories and buckets to the shared directory before the ranks start, one copy for the
whole run. The batch script does that; the keys are in separate files. Pure."""

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

HERE = Path(__file__).parent
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
    """A data source to fetch. ``place`` is its path according to the spec."""

    number: int
    item: Git | S3

    @property
    def place(self) -> str:
        return self.item.path

    @property
    def variable(self) -> str:
        return volume_variable(self.place)

    @property
    def opened_by(self) -> CredentialKind:
        return (
            credential_kind_for("git", self.item.repository)
            if isinstance(self.item, Git)
            else credential_kind_for("s3", "")
        )


def sources(launch: Launch) -> list[FetchedSource]:
    """All data sources of a launch. Those that master and workers share are fetched once."""
    replicas = filter(None, (launch.spec.worker, launch.spec.master))
    items = dict.fromkeys(item for replica in replicas for item in _items(replica))
    return [FetchedSource(number, item) for number, item in enumerate(items)]


def of_pod(launch: Launch, pod: Pod) -> list[FetchedSource]:
    """The data sources that a pod reads."""
    own = set(_items(pod.replica))
    return [source for source in sources(launch) if source.item in own]


def _items(replica: Replica) -> tuple[Git | S3, ...]:
    return (*replica.storage.git, *replica.storage.s3)


def folder_of(launch: Launch, site: SlurmSite, source: FetchedSource) -> str:
    """The folder that a data source is fetched to."""
    folder = SharedFolder(site.directory, launch.handle.workload_id)
    return f"{folder.run(launch.run)}/volumes/{source.number}"


def placed(text: str, launch: Launch, site: SlurmSite) -> str:
    """The text with paths of data sources, and paths below them, replaced by their folders. The
    nodes have nothing at these paths, and users cannot mount anything there."""
    for source in sorted(sources(launch), key=lambda it: -len(it.place)):
        pattern = rf"(?<![\w./$-]){re.escape(source.place.rstrip('/'))}(?![\w.-])"
        folder = folder_of(launch, site, source)
        text = re.sub(pattern, folder.replace("\\", r"\\"), text)
    return text


def files(launch: Launch, site: SlurmSite, *, shown: bool) -> dict[str, str]:
    """The files needed to fetch, by name below the folder of the run; none if nothing is
    fetched."""
    there = sources(launch)
    if not there:
        return {}
    prologue = site.prologue.replace("\r\n", "\n").strip()
    calls = "".join(f"{_call(source)} || exit 1\n" for source in there)
    text = "#!/bin/bash\n# Brings what the ranks read to the shared directory.\n"
    prologue += "\n" if prologue else ""
    results = {FETCH: f"{text}{(HERE / FETCH).read_text()}\n{prologue}{calls}"}
    for source in there:
        if credential := source.item.credential:
            results |= dict(_keys(launch, source, credential, shown=shown))
    return results


def _call(source: FetchedSource) -> str:
    item = source.item
    opened = bool(source.item.credential)
    if isinstance(item, Git):
        at = item.revision or item.branch or ""
        failed = repository_failed(item.repository, source.place, at=at, opened=opened)
        helper = _helper(item) if opened and source.opened_by is CredentialKind.PASSWORD else ""
        how = ["git_source", item.repository, item.branch or "", item.revision or "", helper]
        return shlex.join(
            ["fetch", str(source.number), item.repository, source.place, failed, *how]
        )
    what = f"s3://{item.bucket}"
    failed = bucket_failed(what, source.place, url=item.url or "", opened=opened)
    how = ["s3_source", item.bucket, item.url or ""]
    return shlex.join(["fetch", str(source.number), what, source.place, failed, *how])


def _helper(git: Git) -> str:
    """The git option for the password. Helpers that our user set up on the cluster are not used."""
    server = "{0.scheme}://{0.netloc}".format(urlsplit(git.repository))
    return f"credential.{server}.helper={HELPER}"


def _keys(
    launch: Launch, source: FetchedSource, credential: NamedCredential, *, shown: bool
) -> Iterator[tuple[str, str]]:
    """Files with keys, which only their owner can read, and which are removed once all is
    fetched."""
    path = f"{KEYS}/{source.number}"

    def value(key: str) -> str:
        return MASK if shown else launch.value_of(credential, key)

    if source.opened_by is CredentialKind.SSH_KEY:
        yield f"{path}.key", f"{value('ssh').rstrip()}\n"  # ssh needs the line break
        if hosts := launch.value_of(credential, KNOWN_HOSTS):
            yield f"{path}.hosts", f"{hosts}\n"
        return
    names = VARIABLES[source.opened_by].items()
    yield f"{path}.sh", "".join(f"export {it}={shlex.quote(value(key))}\n" for key, it in names)
