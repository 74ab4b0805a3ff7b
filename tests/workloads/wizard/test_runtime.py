"""As whom a container runs, from which registry, and when it is ready: from the page to the pod."""

import re
from typing import Any
from uuid import UUID

import pytest

from engines.base import Handle, Launch, Site
from engines.kubernetes.jobs import KAI
from engines.kubernetes.manifests.job import manifests
from projects.models import Project
from tests.factories import EnvironmentFactory
from tests.workloads.wizard.browser import Inputs, Wizard, item
from workloads.models import Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("on_kubernetes")]
SECRETS = "worker-imagePullSecrets"
CAPABILITIES = "worker-security-capabilities"
UID = "worker-security-runAsUid"
PROBE = "worker-probes-readiness"
PORT = f"{PROBE}-handler-httpGet-port"
CUSTOM = {"uidGidSource": "custom", "runAsUid": 1000, "capabilities": ["IPC_LOCK"]}


def with_environment(wizard: Wizard, project: Project, **columns: Any) -> Wizard:
    """The draft's workers take an environment with IDs of its own."""
    spec = {"image": "x:1", "workingDir": "/app", "security": CUSTOM}
    made = EnvironmentFactory(home=project, spec_json=spec, name="own-ids", **columns)
    wizard.ready().save(2, **{"worker-environment": str(made.pk)})
    return wizard


def pod(wizard: Wizard) -> dict[str, Any]:
    """Of the workers, as the cluster would get it."""
    spec = wizard.plan().spec
    assert spec, wizard.plan().problems
    site = Site(schedulers=(KAI,))
    launch = Launch(Handle(UUID(int=1), "train", "team-a"), 1, spec, site=site)
    job = manifests(launch, prefix="")[-1]
    found: dict[str, Any] = job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]
    return found


def test_the_runtime_fields_of_the_wizard_reach_the_pod(wizard: Wizard, project: Project) -> None:
    with_environment(wizard, project, override_uid_gid=True)
    fields = {UID: "2000", "worker-security-supplementalGroups": "10, 20"}
    fields |= {"worker-workingDir": "/src", PORT: "8080", f"{PROBE}-periodSeconds": "5"}
    fields |= {f"{PROBE}-handler-httpGet-path": "/ready", "cleanPodPolicy": "All"}
    wizard.save(2, **fields, **item(SECRETS, 0, name="registry"))
    made = pod(wizard)
    assert made["imagePullSecrets"] == [{"name": "registry"}]
    assert made["securityContext"] == {"runAsUser": 2000, "supplementalGroups": [10, 20]}
    container = made["containers"][0]
    assert container["workingDir"] == "/src"
    assert container["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}}
    get = {"path": "/ready", "port": 8080, "scheme": "HTTP"}
    assert container["readinessProbe"] == {"httpGet": get, "periodSeconds": 5}
    page = wizard.open(wizard.at(3)).page
    for told in ("UID 2000, groups 10, 20", "HTTP on port 8080, /ready", "registry", "/src"):
        assert told in page
    wizard.press("create")
    worker = Workload.objects.get().spec.worker
    assert (worker.security.run_as_uid, worker.working_dir) == (2000, "/src")


def test_the_page_shows_what_the_draft_holds_and_what_the_environment_says(
    wizard: Wizard, project: Project
) -> None:
    with_environment(wizard, project, override_uid_gid=True)
    wizard.save(2, **{UID: "2000", PORT: "8080"}, **item(SECRETS, 0, name="registry"))
    page = wizard.open(wizard.at(2)).page
    shown = Inputs(page).values
    assert (shown[UID], shown[PORT], shown[f"{SECRETS}-0-name"]) == ("2000", "8080", "registry")
    assert "Replaces 1000 from environment own-ids." in page
    assert "Uses /app from environment own-ids." in page
    for note, changed in (("runtime", "2 changed"), ("readiness", "1 changed")):
        assert re.search(rf'id="{note}-note"[^>]*>{changed}<', page)
    wizard.press("save", **{UID: "", PORT: ""}).open(wizard.at(2)).press(f"remove:{SECRETS}:0")
    assert wizard.draft.content.worker.values == {}
    assert pod(wizard)["securityContext"] == {"runAsUser": 1000}


def test_probes_that_only_rest_makes_are_kept_and_reviewed(wizard: Wizard) -> None:
    wizard.ready()
    alive = {"periodSeconds": 20, "handler": {"httpGet": {"port": 9090, "path": "/alive"}}}
    draft = wizard.draft
    draft.document["worker"]["values"] = {"probes": {"liveness": alive}}
    draft.save()
    wizard.save(2, **{PORT: "8080"})
    container = pod(wizard)["containers"][0]
    assert container["livenessProbe"]["httpGet"]["port"] == 9090
    assert container["readinessProbe"]["httpGet"]["port"] == 8080
    assert "HTTP on port 9090, /alive" in wizard.open(wizard.at(3)).page


def test_capabilities_take_the_place_of_the_environments(wizard: Wizard, project: Project) -> None:
    with_environment(wizard, project).open(wizard.at(2)).press(f"add:{CAPABILITIES}")
    assert f"up:{CAPABILITIES}" not in wizard.page
    assert pod(wizard)["containers"][0]["securityContext"]["capabilities"]["add"] == ["IPC_LOCK"]
    wizard.press("save", **{f"{CAPABILITIES}-0-item": "SYS_PTRACE"})
    added = pod(wizard)["containers"][0]["securityContext"]["capabilities"]["add"]
    assert added == ["SYS_PTRACE"]


@pytest.mark.parametrize("columns", [{}, {"override_uid_gid": True, "spec_json": {"image": "x:1"}}])
def test_user_and_group_ids_come_from_the_environment(
    wizard: Wizard, project: Project, columns: dict[str, Any]
) -> None:
    made = EnvironmentFactory(home=project, **columns)
    wizard.ready().save(2, **{"worker-environment": str(made.pk)})
    page = wizard.save(2, **{UID: "0"})
    assert "User ID (UID) is set by the environment" in page
    assert not wizard.plan().is_submittable


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({PORT: "70000"}, "Port must be at most 65535."),
        ({PORT: "http"}, "Port must be a whole number."),
        ({PORT: "", f"{PROBE}-periodSeconds": "5"}, "Port is required."),
        ({PORT: "", f"{PROBE}-handler-httpGet-path": "/ready"}, "Port is required."),
        ({PORT: "80", f"{PROBE}-timeoutSeconds": "0"}, "Timeout must be at least 1."),
        (item(SECRETS, 0, name="no name"), "Secret "),
        (item(CAPABILITIES, 0, item="FLY"), "is not a Linux capability"),
        ({"cleanPodPolicy": "Some"}, "Pods to delete at the end must be one of"),
    ],
)
def test_an_error_of_a_runtime_field_stands_at_that_field(
    wizard: Wizard, fields: dict[str, str], told: str
) -> None:
    wizard.ready()
    page = wizard.save(2, **fields)
    assert told in page
    assert 'class="errorlist"' in page
    wizard.open(wizard.at(3)).press("create")
    assert wizard.status == 422


def test_choosing_another_environment_brings_its_user_and_group_ids(
    wizard: Wizard, project: Project
) -> None:
    with_environment(wizard, project, override_uid_gid=True).save(2, **{UID: "2000"})
    other = EnvironmentFactory(home=project)
    wizard.save(2, **{"worker-environment": str(other.pk), "worker-workingDir": "/src"})
    assert wizard.draft.content.worker.values == {"workingDir": "/src"}
    assert wizard.plan().is_submittable, wizard.plan().problems


def test_a_local_cluster_says_why_it_has_no_runtime_fields(
    wizard: Wizard, project: Project
) -> None:
    project.cluster.kind = "local"
    project.cluster.save()
    page = wizard.ready().open(wizard.at(2)).page
    assert "ranks run as the user of this server" in page
    assert "is ready when it runs" in page
    assert 'name="worker-workingDir"' in page
    assert UID not in page
    assert f"add:{SECRETS}" not in page
