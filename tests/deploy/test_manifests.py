"""What deploy/ says fits the program, and a real API server takes every manifest."""

import re
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.urls import reverse
from kubernetes.utils.quantity import parse_quantity

from config import health
from config.run.install import ROOT
from config.run.process import NAMES
from tests.cluster import RealCluster
from tests.deploy import rbac
from tests.deploy.conftest import BASE
from tests.waiting import wait_for

NAMESPACE = "/api/v1/namespaces/trainyard"
Document = dict[str, Any]


def documents(kind: str = "") -> list[Document]:
    files = [path for path in BASE.glob("*.yaml") if path.name != "kustomization.yaml"]
    found = [one for path in files for one in yaml.safe_load_all(path.read_text())]
    return [one for one in found if kind in ("", one["kind"])]


def pod_specs() -> Iterator[Document]:
    for kind in ("Deployment", "StatefulSet", "Job"):
        for document in documents(kind):
            yield document["spec"]["template"]["spec"]


def containers() -> Iterator[Document]:
    for pod in pod_specs():
        yield from [*pod.get("initContainers", []), *pod["containers"]]


def test_the_kustomization_lists_every_manifest() -> None:
    listed = yaml.safe_load((BASE / "kustomization.yaml").read_text())["resources"]
    assert {*listed, "kustomization.yaml"} == {path.name for path in BASE.iterdir()}


@pytest.mark.parametrize("path", sorted(BASE.parent.glob("*/*.yaml")), ids=lambda path: path.name)
def test_manifests_use_no_aliases_of_yaml(path: Path) -> None:
    """The kustomize of kubectl 1.21 to 1.23 trips over aliases."""
    events = list(yaml.parse(path.read_text()))
    assert not [event for event in events if isinstance(event, yaml.AliasEvent)]


def test_the_rights_are_those_that_the_program_asks_for() -> None:
    assert rbac.FILE.read_text() == rbac.text(), "python -m tests.deploy.rbac writes it anew"


def test_every_container_starts_a_process_that_there_is() -> None:
    ours = [one for one in containers() if one["image"].startswith("trainyard:")]
    started = {tuple(one["args"]) for one in ours if "args" in one}
    assert started == {(name,) for name in NAMES}


def test_image_and_job_carry_the_version() -> None:
    ours = {one["image"] for one in containers() if "/" not in one["image"]}
    assert ours == {f"trainyard:{settings.VERSION}"}
    (job,) = documents("Job")
    assert job["metadata"]["name"] == f"prepare-{settings.VERSION}"


def test_no_container_of_the_manifests_runs_as_root_or_may_become_it() -> None:
    assert all(pod["securityContext"]["runAsNonRoot"] for pod in pod_specs())
    for container in containers():
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}


def test_only_pods_that_talk_to_clusters_have_a_service_account() -> None:
    with_account = {
        pod["containers"][0]["name"]
        for pod in pod_specs()
        if pod.get("automountServiceAccountToken", True)
    }
    assert with_account == {"web", "worker"}
    accounts = {
        name: named("Deployment", name)["spec"]["template"]["spec"]["serviceAccountName"]
        for name in with_account
    }
    assert accounts == {"web": "trainyard-web", "worker": "trainyard"}
    assert {one["metadata"]["name"] for one in documents("ServiceAccount")} == {*accounts.values()}


def named(kind: str, name: str) -> Document:
    (found,) = [one for one in documents(kind) if one["metadata"]["name"] == name]
    return found


def test_two_web_pods_serve_as_their_health_lets_them() -> None:
    spec = named("Deployment", "web")["spec"]
    assert spec["replicas"] == 2
    (web,) = spec["template"]["spec"]["containers"]
    asked = [web[probe]["httpGet"]["path"] for probe in ("readinessProbe", "livenessProbe")]
    assert asked == [f"{reverse('healthz')}?of={part}" for part in ("database", "web")]
    assert set(health.PARTS) >= {"database", "web"}


def test_every_process_that_stays_has_a_probe() -> None:
    stays = [*documents("Deployment"), *documents("StatefulSet")]
    names = {one["metadata"]["name"] for one in stays}
    assert names == {"web", "worker", "beat", "valkey", "postgres"}
    for one in stays:
        (container,) = one["spec"]["template"]["spec"]["containers"]
        assert container.keys() & {"livenessProbe", "readinessProbe"}, one["metadata"]["name"]


def test_tables_are_made_by_a_job_that_all_wait_for() -> None:
    (job,) = documents("Job")
    (prepare,) = job["spec"]["template"]["spec"]["containers"]
    assert prepare["args"] == ["prepare"]
    for name in ("web", "worker", "beat"):
        (first,) = named("Deployment", name)["spec"]["template"]["spec"]["initContainers"]
        assert first["args"] == ["wait"]


def test_pods_request_what_the_page_says() -> None:
    """A new version starts before the old one ends, where its Deployment lets it."""
    always = [Decimal(0), Decimal(0)]
    besides = [Decimal(0), Decimal(0)]
    for one in (*documents("Deployment"), *documents("StatefulSet"), *documents("Job")):
        spec = one["spec"]
        is_new = one["kind"] == "Deployment" and spec.get("strategy", {}).get("type") != "Recreate"
        (container,) = spec["template"]["spec"]["containers"]
        for place, name in enumerate(("cpu", "memory")):
            amount = parse_quantity(container["resources"]["requests"][name])
            always[place] += amount * spec.get("replicas", 0)
            besides[place] += amount * (is_new or one["kind"] == "Job")
    page = (ROOT / "docs" / "deploy.md").read_text()
    wanted = re.findall(r"request ([\d.]+) cores and ([\d.]+) GiB", page)
    assert [(cpu, memory / 2**30) for cpu, memory in (always, besides)] == [
        (Decimal(cpu), Decimal(memory)) for cpu, memory in wanted
    ]


def test_network_policies_let_in_only_what_they_name() -> None:
    everyone, web, data = (
        named("NetworkPolicy", name)["spec"] for name in ("nobody-gets-in", "web", "data")
    )
    assert everyone == {"podSelector": {}, "policyTypes": ["Ingress"]}
    (port,) = named("Deployment", "web")["spec"]["template"]["spec"]["containers"][0]["ports"]
    (door,) = web["ingress"]
    assert [it["port"] for it in door["ports"]] == [port["containerPort"]]
    (ingress,) = door["from"]
    # Not by labels of pods: people who submit a training choose those of its pods.
    assert ingress.keys() == {"namespaceSelector"}
    assert ingress["namespaceSelector"]["matchLabels"]
    (chosen,) = data["podSelector"]["matchExpressions"]
    assert set(chosen["values"]) == {"postgres", "valkey"}
    assert "Egress" in data["policyTypes"], "and they ask nobody"
    assert "egress" not in data


def test_web_believes_forwarded_headers_from_named_networks_alone() -> None:
    settings = named("ConfigMap", "settings")["data"]
    assert ip_network(settings["TRUSTED_PROXIES"]).prefixlen > 0
    given = [item["name"] for one in containers() for item in one.get("env", [])]
    assert "FORWARDED_ALLOW_IPS" not in given


def test_the_image_has_the_programs_of_a_backup() -> None:
    last = (ROOT / "deploy" / "Containerfile").read_text().rpartition("\nFROM ")[2]
    assert "install --yes --no-install-recommends postgresql-client" in last


def copied() -> list[str]:
    """What the image takes from the repository."""
    text = (ROOT / "deploy" / "Containerfile").read_text()
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    return [word for line in lines for word in line.split()]


@pytest.mark.parametrize("source", copied())
def test_files_that_the_image_copies_are_there(source: str) -> None:
    assert (ROOT / source).exists()


def test_secrets_are_made_once_and_only_for_their_owner(overlay: Path) -> None:
    made = {path.name: path.read_text() for path in (overlay / "secrets").iterdir()}
    own = made | {"DATABASE_URL": "postgresql://me@database.example.com/mine"}
    (overlay / "secrets" / "DATABASE_URL").write_text(own["DATABASE_URL"])
    subprocess.run([overlay / "secrets.sh"], check=True)
    assert own == {path.name: path.read_text() for path in (overlay / "secrets").iterdir()}
    assert made["POSTGRES_PASSWORD"] in made["DATABASE_URL"]
    assert made["VALKEY_PASSWORD"] in made["REDIS_URL"]
    assert all(len(text) >= 40 for text in made.values())
    assert {path.stat().st_mode & 0o77 for path in (overlay / "secrets").iterdir()} == {0}


@pytest.fixture
def _namespace(api_server: RealCluster) -> Iterator[None]:
    """A dry run needs the namespace that it would have made."""
    api = api_server.api

    def is_leaving() -> bool:  # by the test before this one
        namespace = api.find(NAMESPACE) or {}
        return "deletionTimestamp" in namespace.get("metadata", {})

    wait_for(lambda: not is_leaving(), 60, message="the namespace of an earlier test to be gone")
    if api.find(NAMESPACE):
        yield
        return
    (document,) = documents("Namespace")
    api.create("/api/v1/namespaces", document)
    yield
    api.delete(NAMESPACE)


@pytest.mark.kubernetes
@pytest.mark.usefixtures("_namespace")
def test_the_api_server_accepts_every_manifest(overlay: Path, kubectl: list[str]) -> None:
    made = subprocess.run(
        [kubectl[0], "kustomize", str(overlay)], capture_output=True, text=True, check=True
    ).stdout
    apply = [*kubectl, "apply", "--dry-run=server", "-f", "-"]
    done = subprocess.run(apply, input=made, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("(server dry run)") == len(list(yaml.safe_load_all(made)))
