"""Volumes, data sources, tolerations, node pools: items of several parts."""

from typing import Any

import pytest

from accounts import general
from projects.models import Project
from tests.factories import UserFactory
from tests.workloads.wizard.browser import HTMX, Inputs, Wizard, item

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("on_kubernetes")]
VOLUME = "worker-storage-pvc"
CLAIM = "worker-storage-claims"
GIT = "worker-storage-git"
TOLERATION = "worker-tolerations"
POOLS = "nodePools"
TOPOLOGY = "worker-podAffinity"


def storage(wizard: Wizard) -> dict[str, Any]:
    found: dict[str, Any] = wizard.draft.content.worker.values["storage"]
    return found


def test_a_volume_is_added_filled_and_removed_without_javascript(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2)).press(f"add:{VOLUME}")
    assert Inputs(wizard.page).values[f"{VOLUME}-0-claimInfo-accessModes-readWriteOnce"] == "on"
    parts = {"claimInfo-size": "10", "claimInfo-storageClass": "fast", "path": "/data"}
    wizard.press("save", **{f"{VOLUME}-0-{key}": value for key, value in parts.items()})
    size = {"size": "10G", "storageClass": "fast"}
    assert storage(wizard) == {"pvc": [{"claimInfo": size, "path": "/data"}]}
    made = wizard.plan()
    assert made.is_submittable, made.problems
    page = wizard.open(wizard.at(2)).page
    assert ">1 changed<" in page
    assert Inputs(page).values[f"{VOLUME}-0-claimInfo-size-unit"] == "G"
    assert "/data" in wizard.open(wizard.at(3)).page
    wizard.open(wizard.at(2)).press(f"remove:{VOLUME}:0")
    assert "storage" not in wizard.draft.content.worker.values


def test_adding_an_item_with_javascript_swaps_its_list_alone(wizard: Wizard) -> None:
    wizard.ready()
    response = wizard.client.post(wizard.at(2), {"action": f"add:{GIT}"}, **HTMX)
    page = response.content.decode()
    assert f'id="{GIT}-rows"' in page
    assert "autofocus" in page
    assert f'id="{VOLUME}-rows"' not in page


def test_a_blank_item_is_kept_but_not_submitted(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2)).press(f"add:{CLAIM}").press(f"add:{TOLERATION}")
    assert f"{CLAIM}-0-path" in wizard.page
    assert wizard.plan().is_submittable, wizard.plan().problems


def test_new_and_existing_claims_share_a_list_and_keep_apart(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2)).press(f"add:{CLAIM}").press(f"add:{VOLUME}")
    parts = {f"{CLAIM}-0-claimName": "shared", f"{CLAIM}-0-path": "/shared"}
    wizard.press("save", **parts, **{f"{VOLUME}-0-claimInfo-size": "1", f"{VOLUME}-0-path": "bad"})
    assert storage(wizard)["pvc"][0] == {
        "existingPvc": True,
        "claimName": "shared",
        "path": "/shared",
    }
    page = wizard.save(2, **item(VOLUME, 0, claimInfo_size="1", path="bad"))
    assert f'id="{VOLUME}-0-path-notes" data-for="{VOLUME}-0-path" data-invalid' in page
    assert "write one like /data" in page
    assert f'id="{CLAIM}-0-path-notes"' not in page, "it has nothing to say"


@pytest.mark.parametrize(
    ("name", "parts", "cell", "told"),
    [
        (VOLUME, {"path": "/d"}, "claimInfo-size", "Claim size is required."),
        (VOLUME, {"path": "/d", "claimInfo_size": "ten"}, "claimInfo-size", "is not an amount"),
        (GIT, {"path": "/d", "repository": "--upload-pack=x"}, "repository", "not a repository"),
        (TOLERATION, {"value": "x"}, "key", "Key is required."),
        (
            TOLERATION,
            {"key": "a", "operator": "Exists", "value": "x"},
            "value",
            "Value is only allowed with",
        ),
        (TOLERATION, {"key": "a", "value": "x", "seconds": "soon"}, "seconds", "whole number"),
        (TOLERATION, {"key": "a", "value": "x", "effect": "<b>"}, "effect", "must be one of"),
    ],
)
def test_an_error_stands_at_its_cell(
    wizard: Wizard, name: str, parts: dict[str, str], cell: str, told: str
) -> None:
    wizard.ready()
    page = wizard.save(2, **item(name, 1, **parts))
    at = f'id="{name}-0-{cell}-notes" data-for="{name}-0-{cell}" data-invalid'
    assert told in page[page.index(at) : page.index(at) + 400]
    assert f'href="#{name}-0-{cell}"' in page
    wizard.open(wizard.at(3)).press("create")
    assert wizard.status == 422


def test_the_wizard_keeps_parts_of_an_item_that_no_cell_shows(wizard: Wizard) -> None:
    wizard.ready()
    draft = wizard.draft
    secret = {"name": "key", "authenticationMethod": "ssh-key"}
    given = {"repository": "git@host:a/b", "path": "/src", "secretRef": secret, "name": "src"}
    draft.document["worker"]["values"] = {"storage": {"git": [given]}}
    draft.save()
    wizard.open(wizard.at(2)).press("save", **{f"{GIT}-0-branch": "dev"})
    assert storage(wizard)["git"] == [given | {"branch": "dev"}]
    forged = item(GIT, 0, path="/src") | {f"{GIT}-0-rest": "forged"}
    wizard.save(2, **forged)
    assert storage(wizard)["git"] == [{"path": "/src"}]


def test_node_pools_are_in_order(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2)).press(f"add:{POOLS}").press(f"add:{POOLS}")
    wizard.press(f"up:{POOLS}:1", **{f"{POOLS}-0-item": "default", f"{POOLS}-1-item": "a100"})
    assert wizard.draft.content.values["nodePools"] == ["a100", "default"]
    spec = wizard.plan().spec
    assert spec is not None
    assert spec.node_pools == ("a100", "default")


def test_single_values_keep_their_place_on_the_wire(wizard: Wizard) -> None:
    wizard.ready()
    fields = {"priorityClass": "high", "preemptibility": "preemptible", "topology-name": "net"}
    fields |= {"topology-preferred": "rack", "worker-nodeType": "dgx"}
    fields |= item("worker-podAffinity", 0, type="Preferred", key="zone")
    wizard.save(2, **fields)
    spec = wizard.plan().spec
    assert spec is not None, wizard.plan().problems
    assert (spec.priority_class, spec.preemptibility) == ("high", "preemptible")
    assert spec.topology
    assert spec.topology.preferred == "rack"
    assert spec.worker.pod_affinity
    assert spec.worker.pod_affinity.key == "zone"
    assert spec.worker.node_type == "dgx"
    page = wizard.open(wizard.at(3)).page
    assert "net: rack (preferred)" in page
    assert "zone (preferred)" in page
    wizard.save(2, **{"topology-name": "", "topology-preferred": ""})
    assert "topology" not in wizard.draft.content.values


def test_a_toleration_of_a_taint_without_a_value(wizard: Wizard) -> None:
    wizard.ready()
    role = "node-role.kubernetes.io/control-plane"
    parts = item(TOLERATION, 0, key=role, operator="", value="", effect="NoSchedule")
    wizard.save(2, **parts)
    made = wizard.plan()
    assert made.is_submittable, made.problems
    assert f"{role}=<" in wizard.open(wizard.at(3)).page


def test_a_framework_field_is_shown_for_that_framework_alone(wizard: Wizard) -> None:
    wizard.ready(framework="MPI")
    page = wizard.open(wizard.at(2)).page
    assert 'name="slotsPerWorker"' in page
    assert 'name="minReplicas"' not in page
    wizard.ready("other", values={"numWorkers": 2, "slotsPerWorker": 2})
    page = wizard.open(wizard.at(2)).page
    assert 'name="minReplicas"' in page
    assert 'name="slotsPerWorker"' in page  # or nobody could empty it


def test_the_launcher_may_wait_for_its_workers(wizard: Wizard) -> None:
    wizard.ready(framework="MPI")
    wizard.save(2, mpiLauncherCreationPolicy="WaitForWorkersReady")
    assert wizard.draft.content.values["mpiLauncherCreationPolicy"] == "WaitForWorkersReady"
    assert 'value="WaitForWorkersReady" selected' in wizard.open(wizard.at(2)).page
    wizard.save(2, mpiLauncherCreationPolicy="")
    assert "mpiLauncherCreationPolicy" not in wizard.draft.content.values


def test_the_wizard_says_so_where_the_cluster_has_no_scheduling(
    wizard: Wizard, project: Project
) -> None:
    project.cluster.kind = "local"
    project.cluster.save()
    page = wizard.ready().open(wizard.at(2)).page
    assert "This machine is the only node" in page
    assert f"add:{VOLUME}" in page
    assert f"add:{TOLERATION}" not in page


def test_a_copy_that_brings_volumes_there_can_be_emptied(wizard: Wizard, project: Project) -> None:
    project.cluster.kind = "local"
    project.cluster.save()
    volume = {"path": "/data", "claimInfo": {"size": "1G", "volumeMode": "Block"}}
    wizard.ready()
    draft = wizard.draft
    draft.document["worker"]["values"] = {"storage": {"pvc": [volume]}}
    draft.save()
    wizard.open(wizard.at(2)).press("continue")
    assert "This machine has no block devices to give" in wizard.page
    wizard.press(f"remove:{VOLUME}:0")
    assert wizard.plan().is_submittable, wizard.plan().problems


def test_the_master_has_its_own(wizard: Wizard) -> None:
    wizard.ready()
    wizard.save(2, **item(TOLERATION, 0, key="gpu", operator="Exists"))
    wizard.open(wizard.at(3)).press("save", **{"master-different": "on"})
    wizard.open(wizard.at(3)).press("remove:master-tolerations:0")
    content = wizard.draft.content
    assert content.master
    assert "tolerations" not in content.master.values
    assert content.worker.values["tolerations"] == [{"key": "gpu", "operator": "Exists"}]


def test_topology_is_one_key_with_an_operator(wizard: Wizard) -> None:
    general.update_settings(by=UserFactory(administrator=True), tolerations=False, topology=True)
    wizard.ready().open(wizard.at(2)).press(f"add:{TOPOLOGY}").press(f"add:{TOPOLOGY}")
    values = wizard.draft.content.worker.values
    assert values["podAffinity"] == {"type": "Required"}, "a second one has no place"
    wizard.press("continue")
    assert "Key is required" in wizard.page
    assert f'href="#{TOPOLOGY}-0-key"' in wizard.page
    wizard.save(2, **item(TOPOLOGY, 0, key="zone", type="Preferred"))
    spec = wizard.plan().spec
    assert spec is not None, wizard.plan().problems
    assert spec.worker.pod_affinity
    assert (spec.worker.pod_affinity.key, spec.worker.pod_affinity.type) == ("zone", "Preferred")
    wizard.open(wizard.at(2)).press(f"remove:{TOPOLOGY}:0")
    assert "podAffinity" not in wizard.draft.content.worker.values


def test_an_ephemeral_volume_stays_one_when_its_page_is_opened_again(wizard: Wizard) -> None:
    wizard.ready().save(2, **item(VOLUME, 0, path="/data", ephemeral="on"))
    wizard.open(wizard.at(2)).press("save")
    assert storage(wizard)["pvc"][0]["ephemeral"] is True
