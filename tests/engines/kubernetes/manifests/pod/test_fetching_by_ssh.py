"""A private repository that real pods fetch by ssh from a real sshd."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines.kubernetes.client.api import Api
from engines.kubernetes.manifests.pod.fetchers import Images
from spec.phases import Phase
from tests.cluster import NO_NODE
from tests.engines.kubernetes.conftest import SPACE, KubernetesRig
from tests.engines.kubernetes.launches import ONE, with_spec
from tests.engines.kubernetes.serving import REPOSITORY, USER, fetched, server, serving, with_images
from tests.images import ssh_images

pytestmark = pytest.mark.kubernetes

#: sshd takes a host key that only root reads, and would not like the folder, which is everybody's.
SERVE = """\
set -eu
umask 077
printf '%s\\n' "$HOST" >/srv/host
printf '%s\\n' "$ALLOWED" >/srv/allowed
exec /usr/bin/sshd -D -e -f /dev/null -p 8080 -o HostKey=/srv/host -o PidFile=none \\
  -o StrictModes=no -o AuthorizedKeysFile=/srv/allowed \\
  -o PasswordAuthentication=no -o KbdInteractiveAuthentication=no
"""


@dataclass(frozen=True)
class Forge:
    """Where the repositories are, the line of its host, and a key that it takes."""

    image: str
    address: str
    known: str
    key: str

    @property
    def repository(self) -> str:
        return f"ssh://git@{self.address}:8080/srv/www/private.git"


def made_key(path: Path) -> tuple[str, str]:
    """Private and public."""
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path.read_text(), path.with_suffix(".pub").read_text().strip()


@pytest.fixture(scope="module")
def forge(api: Api, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    if not api.items("/api/v1/nodes"):
        pytest.skip(NO_NODE)
    scratch = tmp_path_factory.mktemp("ssh")
    image, client = ssh_images(api, scratch / "root")
    (host, public) = made_key(scratch / "host")
    (key, allowed) = made_key(scratch / "key")
    told = {"HOST": host, "ALLOWED": allowed}
    main = {
        "image": image,
        "command": ["/bin/sh", "-c", SERVE],
        "env": [{"name": name, "value": value} for name, value in told.items()],
    }
    make = {"image": image, "command": ["/bin/sh", "-c", REPOSITORY]}
    with serving(api, "ssh", server(main, make)) as address:
        yield Forge(client, address, f"[{address}]:8080 {public}", key)


@pytest.fixture
def rig(rig: KubernetesRig, forge: Forge) -> Iterator[KubernetesRig]:
    with_images(rig, Images(git=forge.image))
    yield rig
    for name in ("access", "strict"):
        rig.api.delete(f"{SPACE}/secrets/{name}")


def keep(rig: KubernetesRig, name: str, **told: str) -> dict[str, object]:
    """A Secret of the project, as a data source names it."""
    rig.keep("secrets", name, {"kind": "Secret", "stringData": told})
    return {"secretRef": {"name": name}}


def test_an_ssh_key_opens_a_repository_for_an_unknown_user(
    rig: KubernetesRig, forge: Forge
) -> None:
    """Hosts are believed where the Secret names none. A key may lack its last line break."""
    new = {"repository": forge.repository, "path": "/new", **keep(rig, "access", ssh=forge.key)}
    secret = keep(rig, "strict", ssh=forge.key.strip(), known_hosts=forge.known)
    old = {"repository": forge.repository, "path": "/old", "revision": "first", **secret}
    security = USER | {"readOnlyRootFilesystem": True}
    text = fetched(rig, "cat /new/file /old/file", {"git": [new, old]}, security=security)
    assert text == "two\none\n"


def failing(rig: KubernetesRig, forge: Forge, **told: str) -> str:
    """What the workload says of a clone with this Secret."""
    git = {"repository": forge.repository, "path": "/code", **keep(rig, "access", **told)}
    launched = rig.shell("true", **ONE)
    seen = rig.over(rig.submit(with_spec(launched, worker={"storage": {"git": [git]}})))
    assert seen.phase is Phase.FAILED
    return seen.message


def test_a_wrong_key_is_named(rig: KubernetesRig, forge: Forge, tmp_path: Path) -> None:
    said = failing(rig, forge, ssh=made_key(tmp_path / "other")[0], known_hosts=forge.known)
    assert f"git@{forge.address}: Permission denied (publickey)" in said
    assert "does not accept the key in the Secret under ssh" in said


def test_an_unknown_host_is_not_believed(rig: KubernetesRig, forge: Forge) -> None:
    elsewhere = forge.known.replace(forge.address, "example.com")
    said = failing(rig, forge, ssh=forge.key, known_hosts=elsewhere)
    assert f"key is known for [{forge.address}]:8080" in said
    assert "has no line for this host" in said
