"""Nobody reads a workload's own Secret by naming it in another workload."""

from dataclasses import replace

from engines.base import Launch, Registry
from engines.kubernetes.manifests.named_secrets import complaints
from engines.kubernetes.names import job_name, pull_secret_name, secret_name
from spec.formats import documents
from spec.problems.errors import path_text
from tests.engines.kubernetes.cases import SIMPLE, case

THEIRS = case("pytorch")


def naming(secret: str) -> Launch:
    """A launch that names a Secret wherever one can be named."""
    storage = {
        "secretVolume": [{"secret": secret, "mountPath": "/keys"}],
        "git": [{"repository": "https://h/a", "path": "/a", "secretRef": {"name": secret}}],
        "s3": [{"bucket": "data", "path": "/b", "accessKeySecret": secret}],
    }
    variable = {"name": "STOLEN", "secret": {"name": secret, "key": "worker.0.HF_TOKEN"}}
    pod = SIMPLE | {
        "environmentVariables": [variable],
        "storage": storage,
        "imagePullSecrets": [{"name": secret}],
    }
    document = {"distributedFramework": "PyTorch", "worker": pod}
    applied = (Registry("r.example.com", existing_secret=secret),)
    return replace(THEIRS, spec=documents.load_spec(document), registries=applied)


def test_the_secrets_of_other_workloads_are_refused_wherever_they_are_named() -> None:
    ssh = f"{job_name(THEIRS.handle)}-ssh"
    for secret in (secret_name(THEIRS), pull_secret_name(THEIRS), ssh):
        problems = list(complaints(naming(secret)))
        assert [path_text(it.path) for it in problems] == [
            "worker.environmentVariables[0].secret.name",
            "worker.storage.secretVolume[0].secret",
            "worker.storage.git[0].secretRef.name",
            "worker.storage.s3[0].accessKeySecret",
            "worker.imagePullSecrets[0].name",
            "worker.imagePullSecrets",
        ]
        assert all(
            f"'{secret}' has the form of the name of a workload's own" in it.message
            for it in problems
        )


def test_a_date_looks_like_the_digits_of_a_workload() -> None:
    """Nothing tells them apart: one in 43 workloads has digits without letters."""
    assert list(complaints(naming("backup-20261126-env")))
    assert not list(complaints(naming("backup-20261126")))


def test_secrets_of_the_project_are_named_freely() -> None:
    for secret in ("hub", "train-env", "train-8f14e45f", "train-8f14e45f-environment"):
        assert not list(complaints(naming(secret)))
