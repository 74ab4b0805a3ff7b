"""Repositories and buckets, which the batch script brings to the shared directory before the ranks
start: one copy for all of a run. What opens them is in files of their own. Pure."""

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
from spec.data.credential import KNOWN_HOSTS, CredentialKind, opens
from spec.data.places import variable_of
from spec.data.storage import S3, Git
from spec.values.variable import MASK, NamedCredential
from spec.workload import Pod, Replica

HERE = Path(__file__).parent
FETCH, PROGRAM, KEYS = "fetch.sh", "fetch/bucket.py", "keys"
#: Asked by git itself, and for the server of the repository alone.
HELPER = '!f() { printf "username=%s\\npassword=%s\\n" "$GIT_USER" "$GIT_PASSWORD"; }; f'
#: The names by which git's helper and our program know the keys of a credential.
VARIABLES = {
    CredentialKind.PASSWORD: {"User": "GIT_USER", "Password": "GIT_PASSWORD"},
    CredentialKind.ACCESS_KEY: {
        "AccessKeyId": "AWS_ACCESS_KEY_ID",
        "SecretKey": "AWS_SECRET_ACCESS_KEY",
    },
}


@dataclass(frozen=True)
class FetchedSource:
    """``place`` is where the spec wants it."""

    number: int
    item: Git | S3

    @property
    def place(self) -> str:
        return self.item.path

    @property
    def variable(self) -> str:
        return variable_of(self.place)

    @property
    def opened_by(self) -> CredentialKind:
        return opens("git", self.item.repository) if isinstance(self.item, Git) else opens("s3", "")


def sources(launch: Launch) -> list[FetchedSource]:
    """Those that master and workers have in common are fetched once."""
    replicas = filter(None, (launch.spec.worker, launch.spec.master))
    items = dict.fromkeys(item for replica in replicas for item in _items(replica))
    return [FetchedSource(number, item) for number, item in enumerate(items)]


def of_pod(launch: Launch, pod: Pod) -> list[FetchedSource]:
    own = set(_items(pod.replica))
    return [source for source in sources(launch) if source.item in own]


def _items(replica: Replica) -> tuple[Git | S3, ...]:
    return (*replica.storage.git, *replica.storage.s3)


def folder_of(launch: Launch, site: SlurmSite, source: FetchedSource) -> str:
    folder = SharedFolder(site.directory, launch.handle.workload_id)
    return f"{folder.run(launch.run)}/volumes/{source.number}"


def placed(text: str, launch: Launch, site: SlurmSite) -> str:
    """With their folders where it names the places of data sources, or what is below them: nodes
    have nothing there, and a user can mount nothing."""
    for source in sorted(sources(launch), key=lambda it: -len(it.place)):
        pattern = rf"(?<![\w./$-]){re.escape(source.place.rstrip('/'))}(?![\w.-])"
        folder = folder_of(launch, site, source)
        text = re.sub(pattern, folder.replace("\\", r"\\"), text)
    return text


def files(launch: Launch, site: SlurmSite, *, shown: bool) -> dict[str, str]:
    """By their names below the folder of the run; nothing where nothing is fetched."""
    there = sources(launch)
    if not there:
        return {}
    prologue = site.prologue.replace("\r\n", "\n").strip()
    calls = "".join(f"{_call(source)} || exit 1\n" for source in there)
    text = "#!/bin/bash\n# Brings what the ranks read to the shared directory.\n"
    prologue += "\n" if prologue else ""
    results = {FETCH: f"{text}{(HERE / FETCH).read_text()}\n{prologue}{calls}"}
    if any(isinstance(source.item, S3) for source in there):
        results[PROGRAM] = (HERE / "bucket.py").read_text()
    for source in there:
        if credential := source.item.credential:
            results |= dict(_keys(launch, source, credential, shown=shown))
    return results


def _call(source: FetchedSource) -> str:
    item, opened = source.item, bool(source.item.credential)
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
    """Who tells git the password; those that our user on the cluster has set up are not asked."""
    server = "{0.scheme}://{0.netloc}".format(urlsplit(git.repository))
    return f"credential.{server}.helper={HELPER}"


def _keys(
    launch: Launch, source: FetchedSource, credential: NamedCredential, *, shown: bool
) -> Iterator[tuple[str, str]]:
    """Files that only their owner may read, and that go when all is fetched."""
    path = f"{KEYS}/{source.number}"

    def value(key: str) -> str:
        return MASK if shown else launch.value_of(credential, key)

    if source.opened_by is CredentialKind.SSH_KEY:
        yield f"{path}.key", f"{value('ssh').rstrip()}\n"  # without a line break it is none to ssh
        if hosts := launch.value_of(credential, KNOWN_HOSTS):
            yield f"{path}.hosts", f"{hosts}\n"
        return
    names = VARIABLES[source.opened_by].items()
    yield f"{path}.sh", "".join(f"export {it}={shlex.quote(value(key))}\n" for key, it in names)
