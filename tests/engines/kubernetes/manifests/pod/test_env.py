"""Credentials: Secrets of the project's namespace, and of each only what a workload needs."""

from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest

from engines.base import Manifest
from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.manifests.job import manifests
from engines.kubernetes.names import job_name, secret_name
from engines.kubernetes.watch.watcher import PODS
from spec.phases import Phase
from spec.values.variable import expand_value
from tests.engines.contract import launch
from tests.engines.kubernetes.cases import case
from tests.engines.kubernetes.conftest import SPACE, KubernetesRig
from tests.engines.kubernetes.launches import ONE, loaded, with_spec
from tests.engines.reading import printed
from tests.engines.references import VALUES, expanded_values

DEPLOY = {"repository": "https://git.example.com/a", "path": "/a", "secretRef": {"name": "deploy"}}
MASTER = {
    "image": "i",
    "imagePullSecrets": [{"name": "ours"}],
    "environmentVariables": [
        {"name": "API_TOKEN", "value": "m"},
        {"name": "KEY", "secret": {"name": "team", "key": "key"}},
    ],
    "storage": {"git": [DEPLOY]},
}
WORKER = {
    "image": "i",
    "imagePullSecrets": [{"name": "theirs"}],
    "environmentVariables": [{"name": "PASSWORD", "value": "w"}],
    "storage": {"secretVolume": [{"secret": "certs", "mountPath": "/certs"}]},
}


def named(part: Any) -> Iterator[str]:
    """Every Secret in a pod, with the key where one is asked for."""
    if isinstance(part, list):
        for item in part:
            yield from named(item)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key == "imagePullSecrets":
                yield from (item["name"] for item in value)
            elif key == "secretKeyRef":
                yield f"{value['name']}/{value['key']}"
            elif key == "secret":
                yield value["secretName"]
            else:
                yield from named(value)


def test_a_pod_names_the_secrets_of_its_own_setup_alone() -> None:
    launched = loaded(worker=WORKER, master=MASTER)
    env = secret_name(launched)
    roles = manifests(launched, prefix="")[-1]["spec"][PYTORCH.replicas]
    assert set(named(roles["Master"]["template"])) == {
        "ours",
        "team/key",
        "deploy/username",
        "deploy/password",
        f"{env}/master.0.API_TOKEN",
    }
    assert set(named(roles["Worker"]["template"])) == {
        "theirs",
        "certs",
        f"{env}/worker.0.PASSWORD",
    }


def test_a_workload_without_credentials_gets_no_secret() -> None:
    made = manifests(launch("true"), prefix="")
    assert not [item for item in made if item["kind"] == "Secret"]
    assert not list(named(made))


@pytest.mark.kubernetes
def test_the_namespace_holds_what_its_workloads_need_and_no_more(rig: KubernetesRig) -> None:
    registry = {"kind": "Secret", "type": "kubernetes.io/dockerconfigjson"}
    rig.keep("secrets", "registry", registry | {"stringData": {".dockerconfigjson": "{}"}})
    before = credentials(rig)
    plain = rig.submit(rig.shell("true", **ONE))
    variables = [{"name": "API_TOKEN", "value": "s3cr3t"}, {"name": "PLAIN", "value": "seen"}]
    worker = {"environmentVariables": variables, "imagePullSecrets": [{"name": "registry"}]}
    script = "echo $API_TOKEN $PLAIN"
    launched = rig.submit(with_spec(rig.shell(script, **ONE), worker=worker))
    for one in (plain, launched):
        assert rig.over(one).phase is Phase.COMPLETED
    assert printed(rig.engine, launched) == b"s3cr3t seen\n"
    mine = secret_name(launched)
    assert credentials(rig) - before <= {mine}
    kept = rig.api.get(f"{SPACE}/secrets/{mine}")["data"]
    assert [b64decode(value) for value in kept.values()] == [b"s3cr3t"]
    pods = {pod["metadata"]["name"]: set(named(own(pod))) for pod in rig.mine(PODS)}
    assert pods == {
        f"{job_name(plain.handle)}-worker-0": set(),
        f"{job_name(launched.handle)}-worker-0": {"registry", f"{mine}/worker.0.API_TOKEN"},
    }
    rig.engine.delete(launched.handle)
    assert credentials(rig) <= before
    rig.api.delete(f"{SPACE}/secrets/registry")


def credentials(rig: KubernetesRig) -> set[str]:
    """Without the tokens that old API servers make for each service account."""
    token = "kubernetes.io/service-account-token"
    found = rig.api.items(f"{SPACE}/secrets")
    return {item["metadata"]["name"] for item in found if item.get("type") != token}


def own(pod: Manifest) -> Manifest:
    """Its spec without what the API server adds for its service account."""
    account = f"{pod['spec'].get('serviceAccountName')}-token-"
    volumes = pod["spec"].get("volumes", [])
    kept = [
        one
        for one in volumes
        if not one.get("secret", {}).get("secretName", "").startswith(account)
    ]
    return pod["spec"] | {"volumes": kept}


@pytest.mark.parametrize("name", ["pytorch-workers-only", "jax-workers-only"])
def test_python_prints_at_once_unless_the_workload_says_otherwise(name: str) -> None:
    def unbuffered(**worker: Any) -> list[str]:
        spec = manifests(with_spec(case(name), worker=worker), prefix="")[-1]["spec"]
        [role] = next(spec[key] for key in spec if key.endswith("ReplicaSpecs")).values()
        [container] = role["template"]["spec"]["containers"]
        return [it["value"] for it in container["env"] if it["name"] == "PYTHONUNBUFFERED"]

    assert unbuffered() == ["1"]
    given = [{"name": "PYTHONUNBUFFERED", "value": "0"}]
    assert unbuffered(environmentVariables=given) == ["0"]


def test_values_are_left_to_kubernetes_to_expand() -> None:
    variables = [{"name": name, "value": value} for name, value in VALUES.items()]
    launched = with_spec(launch("env"), worker={"environmentVariables": variables})
    roles = manifests(launched, prefix="")[-1]["spec"][PYTORCH.replicas]
    listed = roles["Worker"]["template"]["spec"]["containers"][0]["env"]
    values = {it["name"]: it["value"] for it in listed if it["name"] in VALUES and "value" in it}
    assert values == {name: value for name, value in VALUES.items() if name != "API_TOKEN"}
    seen: dict[str, str] = {"API_TOKEN": VALUES["API_TOKEN"]}  # from a Secret, as it is
    for variable in listed:
        if "value" in variable:
            seen[variable["name"]] = expand_value(variable["value"], seen)
    expected = expanded_values(launched.handle.name)
    assert {name: seen[name] for name in expected} == expected
