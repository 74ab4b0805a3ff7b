"""What is set in the wizard is in the stored spec, and in what each engine hands over."""

import pytest
import yaml
from pytest_django import Settings

from clusters.models import Connection, NodePool
from projects.models import Project
from tests.documents import has
from tests.factories import CredentialFactory, DataSourceFactory
from tests.workloads.nowhere import KUBECONFIG
from tests.workloads.wizard.browser import Wizard, item
from tests.workloads.wizard.sections import pod_fields, source_fields, volume_fields
from tests.workloads.wizard.sections.field_rows import FieldRow, Json
from workloads.models import Workload
from workloads.wizard.as_yaml import manifest_of

pytestmark = pytest.mark.django_db
ROWS = [*pod_fields.ROWS, *volume_fields.ROWS, *source_fields.ROWS]
OWN_IDS = {"uidGidSource": "custom", "runAsUid": 1000}
LR = {"name": "LR", "value": "0.1"}


@pytest.fixture
def filled(wizard: Wizard, project: Project) -> Wizard:
    """A draft with everything filled in, and what the rows refer to."""
    CredentialFactory(
        pk=pod_fields.HUB, home=project, name="hub", entered={"token": "not to be read"}
    )
    wizard.ready()
    environment = wizard.environment
    environment.spec_json["environmentVariables"] = [LR]
    environment.save()
    return wizard


def leave_ids_to_workloads(wizard: Wizard) -> None:
    environment = wizard.environment
    environment.spec_json["security"] = OWN_IDS
    environment.override_uid_gid = True
    environment.save()


@pytest.fixture
def far(on_kubernetes: Project, settings: Settings) -> None:
    settings.PUBLIC_URL = "https://trainyard.example.com"
    cluster = on_kubernetes.cluster
    cluster.settings_json = {"ingress_domain": "apps.example.com"}
    cluster.save()
    Connection.objects.create(cluster=cluster, secret_json=KUBECONFIG)
    NodePool.objects.create(cluster=cluster, name="h100", label_key="gpu", label_value="h100")


def handed_over(wizard: Wizard) -> list[Json]:
    return list(yaml.safe_load_all(manifest_of(wizard.plan(), wizard.user)))


def stored(wizard: Wizard) -> Json:
    """The spec of the workload that CREATE makes."""
    wizard.open(wizard.at(3)).press("create")
    document: Json = Workload.objects.get().spec_json
    return document


@pytest.mark.usefixtures("far")
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_field_is_in_the_stored_spec_and_in_the_manifest_on_kubernetes(
    filled: Wizard, row: FieldRow
) -> None:
    leave_ids_to_workloads(filled)
    filled.save(2, **row.posted)
    assert filled.plan().submittable, filled.plan().problems
    assert has(handed_over(filled), row.kubernetes)
    assert has(stored(filled), row.spec)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_field_reaches_the_processes_of_this_machine_or_is_refused(
    filled: Wizard, row: FieldRow
) -> None:
    if isinstance(row.local, str):
        leave_ids_to_workloads(filled)
        filled.save(2, **row.posted)
        assert row.local in str(filled.plan().problems)
        return
    filled.save(2, **row.posted)
    assert filled.plan().submittable, filled.plan().problems
    assert has(handed_over(filled), row.local or {"kind": "Process"})
    assert has(stored(filled), row.spec)


@pytest.mark.usefixtures("far")
def test_a_data_source_of_the_gallery_is_mounted_where_the_workload_says(
    filled: Wizard, project: Project
) -> None:
    """Step 12, its target location modified."""
    share = DataSourceFactory(home=project)
    chosen = item("worker-dataSources", 0, id=str(share.pk), path="/models")
    filled.save(2, **chosen)
    volume = {"nfs": {"server": "nfs.example.com", "path": "/export"}}
    assert has(handed_over(filled), {"volumes": [volume]})
    assert has(handed_over(filled), {"volumeMounts": [{"mountPath": "/models"}]})
    assert has(stored(filled), {"nfs": [{"server": "nfs.example.com", "mountPath": "/models"}]})


@pytest.mark.usefixtures("far")
@pytest.mark.parametrize("different", ["on", "off"])
def test_the_master_is_as_the_workers_or_of_its_own(filled: Wizard, different: str) -> None:
    """Step 15."""
    filled.save(2, **{"worker-command": "python work.py"})
    filled.save(3, **{"master-different": different})
    if different == "on":
        filled.save(3, **{"master-command": "python lead.py"})
    program = "lead.py" if different == "on" else "work.py"
    containers = {"spec": {"containers": [{"command": ["python", program]}]}}
    assert has(handed_over(filled), {"Master": {"template": containers}})
