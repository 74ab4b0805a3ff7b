"""Git repositories and buckets that real pods fetch from real servers before the program starts."""

import os
from collections.abc import Iterator

import pytest

from engines.kubernetes.client.api import Api
from engines.kubernetes.manifests.pod.fetchers import Images
from spec.phases import Phase
from tests.cluster import NO_NODE, SHELL_IMAGE
from tests.engines.kubernetes.conftest import SPACE, KubernetesRig
from tests.engines.kubernetes.launches import ONE, with_spec
from tests.engines.kubernetes.serving import (
    BUCKET,
    REPOSITORY,
    USER,
    fetched,
    server,
    serving,
    with_images,
)
from tests.images import git_image

pytestmark = pytest.mark.kubernetes
S3_IMAGE = os.environ.get("TRAINYARD_TEST_S3_IMAGE", "")


@pytest.fixture(scope="module")
def git(api: Api, tmp_path_factory: pytest.TempPathFactory) -> str:
    if not api.items("/api/v1/nodes"):
        pytest.skip(NO_NODE)
    return git_image(api, tmp_path_factory.mktemp("git") / "root")


@pytest.fixture
def repositories(rig: KubernetesRig, git: str) -> Iterator[str]:
    """Their address."""
    with_images(rig, Images(git=git))
    make = {"image": git, "command": ["/bin/sh", "-c", REPOSITORY]}
    words = ["httpd", "-f", "-p", "8080", "-h", "/srv/www", "-c", "/srv/httpd.conf"]
    spec = server({"image": SHELL_IMAGE, "command": words}, make)
    with serving(rig.api, "git", spec) as address:
        yield f"http://{address}:8080"


@pytest.fixture
def bucket(rig: KubernetesRig) -> Iterator[str]:
    """The address of the server that has it."""
    if not S3_IMAGE:
        pytest.skip("TRAINYARD_TEST_S3_IMAGE names no image with aws, moto_server and Python")
    with_images(rig, Images(s3=S3_IMAGE))
    probe = {"httpGet": {"path": "/sets/public/file", "port": 8080}, "periodSeconds": 1}
    main = {"image": S3_IMAGE, "command": ["python3", "-c", BUCKET], "readinessProbe": probe}
    with serving(rig.api, "s3", server(main)) as address:
        yield f"http://{address}:8080"


@pytest.fixture
def secret(rig: KubernetesRig) -> Iterator[str]:
    """In the project's namespace, with what both servers ask for."""
    told = {"username": "ada", "password": "p@ss%1", "AccessKeyId": "k", "SecretKey": "s"}
    rig.keep("secrets", "access", {"kind": "Secret", "stringData": told})
    yield "access"
    rig.api.delete(f"{SPACE}/secrets/access")


def test_a_revision_is_cloned_for_a_user_who_is_not_root(
    rig: KubernetesRig, repositories: str
) -> None:
    newest = {"repository": f"{repositories}/open.git", "path": "/code"}
    storage = {"git": [newest, newest | {"revision": "first", "path": "/old"}]}
    text = fetched(rig, "id -u; cat /code/file /old/file", storage, security=USER)
    assert text == "1000\ntwo\none\n"


def test_a_repository_with_a_password_is_cloned(
    rig: KubernetesRig, repositories: str, secret: str
) -> None:
    git = {"repository": f"{repositories}/private.git", "path": "/code", "branch": "main"}
    text = fetched(rig, "cat /code/file", {"git": [git | {"secretRef": {"name": secret}}]})
    assert text == "two\n"


def test_a_bucket_is_copied(rig: KubernetesRig, bucket: str, secret: str) -> None:
    known = {"bucket": "sets", "url": bucket, "path": "/all", "accessKeySecret": secret}
    public = {"bucket": "sets/public", "url": bucket, "path": "/public"}
    script = "cd /all && cat private/file public/file /public/file"
    assert fetched(rig, script, {"s3": [known, public]}) == "theirs\n" + "everybody's\n" * 2


def test_a_bucket_that_needs_a_credential_is_not_copied_without(
    rig: KubernetesRig, bucket: str
) -> None:
    private = {"bucket": "sets/private", "url": bucket, "path": "/all"}
    launched = rig.shell("true", **ONE)
    launched = rig.submit(with_spec(launched, worker={"storage": {"s3": [private]}}))
    seen = rig.over(launched)
    assert seen.phase is Phase.FAILED
    assert "fetch-s3-0 exited with code 1" in seen.message
