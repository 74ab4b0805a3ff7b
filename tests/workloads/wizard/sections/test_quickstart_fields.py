"""Values from the wizard are in the stored spec and in the manifests of each engine."""

import json
from collections.abc import Iterator

import pytest
import yaml
from pytest_django import Settings

from clusters.models import Connection, NodePool
from projects.models import Project
from tests.documents import has
from tests.factories import CredentialFactory, DataSourceFactory
from tests.workloads.nowhere import KUBECONFIG
from tests.workloads.wizard.browser import Wizard, item
from tests.workloads.wizard.sections import pod_fields
from tests.workloads.wizard.sections.every_field import (
    ON_PAGE_1,
    ROWS,
    arrived,
    of_use,
    rounds,
)
from tests.workloads.wizard.sections.field_rows import MOST, FieldRow, Json, Posted
from workloads.models import Workload
from workloads.wizard.as_yaml import render_manifest
from workloads.wizard.choices.offers import Offer
from workloads.wizard.sections import table
from workloads.wizard.sections.base import MASTER, WORKERS

pytestmark = pytest.mark.django_db
OWN_IDS = {"uidGidSource": "custom", "runAsUid": 1000}
LR = {"name": "LR", "value": "0.1"}


@pytest.fixture
def filled(wizard: Wizard, project: Project) -> Wizard:
    """Who fills in drafts, with a credential that the rows refer to."""
    CredentialFactory(
        pk=pod_fields.HUB, home=project, name="hub", entered={"token": "not to be read"}
    )
    return wizard


@pytest.fixture
def kubernetes(on_kubernetes: Project, settings: Settings) -> None:
    settings.PUBLIC_URL = "https://trainyard.example.com"
    cluster = on_kubernetes.cluster
    cluster.settings_json = {"ingress_domain": "apps.example.com"}
    cluster.capabilities_json["kueue"] = "v1beta2"
    cluster.save()
    Connection.objects.create(cluster=cluster, secret_json=KUBECONFIG)
    NodePool.objects.create(cluster=cluster, name="h100", label_key="gpu", label_value="h100")


def handed_over(wizard: Wizard) -> list[Json]:
    return list(yaml.safe_load_all(render_manifest(wizard.plan(), wizard.user)))


def stored(wizard: Wizard, name: str) -> Json:
    """The spec of the workload that CREATE makes."""
    wizard.open(wizard.at(3)).press("create")
    document: Json = Workload.objects.get(name=name).spec_json
    return document


@pytest.fixture
def slurm(project: Project) -> None:
    cluster = project.cluster
    cluster.kind = "slurm"
    cluster.capabilities_json = {
        "frameworks": [{"framework": "PyTorch", "available": True}],
        "queues": True,
        "priority_classes": ["high"],
    }
    cluster.save()
    Connection.objects.create(cluster=cluster, secret_json="{}")
    for name in ("a100", "h100"):
        NodePool.objects.create(cluster=cluster, name=name, label_key=f"slurm.partition/{name}")


@pytest.mark.parametrize("kind", ["kubernetes", "local", "slurm"])
def test_every_field_is_stored_and_reaches_the_engine(
    filled: Wizard, kind: str, request: pytest.FixtureRequest
) -> None:
    set_up_cluster(kind, request)
    for number, (entered, rows) in enumerate(rounds(of_use(kind))):
        ready(filled, f"{kind}-{number}", entered)
        documents = handed_over(filled)
        assert [str(row) for row in rows if not arrived(documents, row.on(kind))] == []
        offer = offer_of(filled)
        withheld = [(str(row), why) for row in rows for why in withheld_of(offer, row)]
        assert [it for it in withheld if it[0] in {str(row) for row in rows if row.on(kind)}] == []
        spec = stored(filled, f"{kind}-{number}")
        assert [str(row) for row in rows if not has(spec, row.spec)] == []


@pytest.mark.usefixtures("kubernetes")
def test_every_field_of_a_master_of_its_own_is_in_its_part(filled: Wizard) -> None:
    """Step 15: steps 9 to 13 again."""
    its = [row for row in of_use("kubernetes") if all("worker-" in name for name in row.posted)]
    assert len(its) > len(ROWS) / 2
    for number, (entered, rows) in enumerate(rounds(its)):
        ready(filled, f"led-{number}", {}, own_ids=True)
        filled.save(MASTER, **{"master-different": "on"})
        filled.save(
            MASTER, **{name.replace("worker", "master", 1): entered[name] for name in entered}
        )
        documents = of_the_master(handed_over(filled))
        assert [str(row) for row in rows if not arrived(documents, row.on("kubernetes"))] == []
        spec = stored(filled, f"led-{number}")["master"]
        assert [str(row) for row in rows if not has(spec, row.spec)] == []


def of_the_master(documents: list[Json]) -> list[Json]:
    """With its secrets named as those of the workers are."""
    text = json.dumps(documents).replace("master.2.TOKEN", "worker.2.TOKEN")
    whole: list[Json] = json.loads(text)
    for document in whole:
        document.get("spec", {}).get("pytorchReplicaSpecs", {}).pop("Worker", None)
    return whole


@pytest.mark.parametrize("kind", ["kubernetes", "local", "slurm"])
def test_fields_that_an_engine_refuses_are_not_offered_and_told_at_submission(
    filled: Wizard, kind: str, request: pytest.FixtureRequest
) -> None:
    set_up_cluster(kind, request)
    refused = [row for row in ROWS if row.is_refused_on(kind)]
    for number, (entered, rows) in enumerate(rounds(refused)):
        ready(filled, f"{kind}-{number}", entered, submittable=False)
        problems = str(filled.plan().problems)
        assert [str(row) for row in rows if str(row.on(kind)) not in problems] == []
        offer = offer_of(filled)
        offered = [row for row in rows if not any(withheld_of(offer, row))]
        assert [str(row) for row in offered if not row.of_value] == []


def set_up_cluster(kind: str, request: pytest.FixtureRequest) -> None:
    if kind != "local":
        request.getfixturevalue(kind)


def ready(
    wizard: Wizard,
    name: str,
    entered: Posted,
    *,
    submittable: bool = True,
    own_ids: bool = False,
) -> None:
    """A draft with everything filled in, and what was entered on top of it."""
    wizard.ready(name, **{key: entered[key] for key in ON_PAGE_1 & entered.keys()})
    environment = wizard.environment
    compute = wizard.compute
    compute.spec_json = {"cpuCoreRequest": 0.1, "cpuMemoryRequest": "100M"}
    compute.save()
    environment.spec_json |= {"environmentVariables": [LR], "command": "python own.py"}
    if own_ids or any("security" in key for key in entered):
        environment.spec_json["security"] = OWN_IDS
        environment.override_uid_gid = True
    environment.save()
    wizard.save(WORKERS, **entered)
    assert not submittable or wizard.plan().is_submittable, wizard.plan().problems


def offer_of(wizard: Wizard) -> Offer:
    """Return what the wizard asks for on the cluster of the draft."""
    plan = wizard.plan()
    return Offer(plan.cluster, plan.project, by=wizard.user)


def withheld_of(offer: Offer, row: FieldRow) -> Iterator[str]:
    """Why the wizard does not ask for what was entered, where it does not."""
    for question in table.questions_on(WORKERS):
        given = (name for name, value in row.posted.items() if value)
        names = [name for name in given if f"{name}-".startswith(f"{question.name}-")]
        whys = [offer.why_missing(table.find_section(question.section)), offer.why_not(question)]
        for cell in question.cells:
            cells = (f"{question.name}-{at}-{cell.slug}" for at in range(MOST))
            for value in filter(None, map(row.posted.get, cells)):
                whys += [offer.why_not(question, cell), offer.why_not(question, cell, value)]
        yield from filter(None, whys if names else ())


#: Chosen from galleries, as the tests of those do.
CHOSEN = {
    "worker-environment",
    "worker-compute",
    "worker-dataSources",
    "worker-imagePullCredentials",
    "roles",  # which a YAML text describes
}


def test_every_field_of_the_page_is_in_a_row() -> None:
    posted = {name for row in (*ROWS, *of_use("kubernetes")) for name in row.posted}
    asked = {it.name for it in table.questions_on(WORKERS)} - CHOSEN
    assert {
        name for name in asked if not any(f"{it}-".startswith(f"{name}-") for it in posted)
    } == set()


@pytest.mark.usefixtures("kubernetes")
def test_a_data_source_of_the_gallery_is_mounted_where_the_workload_says(
    filled: Wizard, project: Project
) -> None:
    """Step 12, its target location modified."""
    filled.ready()
    share = DataSourceFactory(home=project)
    chosen = item("worker-dataSources", 0, id=str(share.pk), path="/models")
    filled.save(2, **chosen)
    volume = {"nfs": {"server": "nfs.example.com", "path": "/export"}}
    assert has(handed_over(filled), {"volumes": [volume]})
    assert has(handed_over(filled), {"volumeMounts": [{"mountPath": "/models"}]})
    assert has(
        stored(filled, "train"), {"nfs": [{"server": "nfs.example.com", "mountPath": "/models"}]}
    )


@pytest.mark.usefixtures("kubernetes")
@pytest.mark.parametrize("different", ["on", "off"])
def test_the_master_is_as_the_workers_or_of_its_own(filled: Wizard, different: str) -> None:
    """Step 15."""
    filled.ready()
    filled.save(2, **{"worker-command": "python work.py"})
    filled.save(3, **{"master-different": different})
    if different == "on":
        filled.save(3, **{"master-command": "python lead.py"})
    program = "lead.py" if different == "on" else "work.py"
    containers = {"spec": {"containers": [{"command": ["python", program]}]}}
    assert has(handed_over(filled), {"Master": {"template": containers}})
