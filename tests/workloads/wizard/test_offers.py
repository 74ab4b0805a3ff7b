"""The wizard asks for what the cluster has, and says what it left out."""

import re

import pytest

from assets.models import Environment
from clusters.models import Cluster, State
from projects.models import Project
from tests.factories import ComputeResourceFactory, DataSourceFactory, EnvironmentFactory
from tests.workloads.wizard.browser import Inputs, Wizard, item
from workloads.models import Workload

pytestmark = pytest.mark.django_db
CLAIMS = "worker-storage-claims"
MAPS = "worker-storage-configMapVolume"
VARIABLES = "worker-environmentVariables"
IMAGENET = {
    "namespace": "trainyard-team-a",
    "name": "imagenet",
    "size": "10Gi",
    "modes": "ReadWriteMany",
}
PROBE = {"readiness": {"handler": {"httpGet": {"port": 8080}}}}


def on(project: Project, kind: str, **known: object) -> None:
    frameworks = [{"framework": "PyTorch", "available": True}]
    project.cluster.kind = kind
    project.cluster.capabilities_json = {"frameworks": frameworks, "queues": True} | known
    project.cluster.save()


def test_slurm_offers_the_data_sources_that_it_takes(wizard: Wizard, project: Project) -> None:
    on(project, "slurm")
    page = wizard.ready().open(wizard.at(2)).page
    hidden = [line for line in page.split("<button") if "+NFS" in line]
    assert "hidden" in hidden[0]
    shown = [line for line in page.split("<button") if "+GIT" in line]
    assert " hidden" not in shown[0].split(">")[0]
    volumes = [line for line in page.split("<button") if "+VOLUME" in line]
    assert " hidden" not in volumes[0].split(">")[0]
    assert "NFS</strong>: not on this cluster. Nodes mount what their administrators" in page
    assert "Node port</strong>: not on this cluster. There is no NodePort on Slurm." in page


def test_a_part_that_a_copy_brings_along_can_be_removed(wizard: Wizard, project: Project) -> None:
    wizard.ready().save(2, **item("worker-storage-nfs", 0, server="nas", path="/a", mountPath="/a"))
    on(project, "slurm")
    page = wizard.open(wizard.at(2)).page
    assert Inputs(page).values["worker-storage-nfs-0-server"] == "nas"
    assert 'value="remove:worker-storage-nfs:0"' in page


def test_claims_of_the_project_are_suggested_and_another_is_warned_of(
    wizard: Wizard, project: Project
) -> None:
    on(
        project,
        "kubernetes",
        schedulers=["kai-scheduler"],
        claims=[IMAGENET, IMAGENET | {"namespace": "trainyard-b", "name": "b"}],
    )
    wizard.ready().save(2, **item(CLAIMS, 0, claimName="imagenet", path="/data"))
    page = wizard.open(wizard.at(2)).page
    assert '<option value="imagenet">imagenet (10Gi, ReadWriteMany)</option>' in page
    assert '<option value="b">' not in page
    assert "Pods wait until there is one" not in page
    wizard.save(2, **item(CLAIMS, 0, claimName="imagnet", path="/data"))
    page = wizard.open(wizard.at(2)).page
    assert "namespace has imagenet." in page
    assert wizard.plan().is_submittable


def test_config_maps_of_the_project_are_suggested_and_another_is_warned_of(
    wizard: Wizard, project: Project
) -> None:
    names = ["trainyard-team-a/settings", "trainyard-b/others"]
    on(project, "kubernetes", schedulers=["kai-scheduler"], config_maps=names)
    wizard.ready().save(2, **item(MAPS, 0, configMap="settings", mountPath="/conf"))
    page = wizard.open(wizard.at(2)).page
    assert '<option value="settings">settings</option>' in page
    assert '<option value="others">' not in page
    assert "Pods wait until there is one" not in page
    wizard.save(2, **item(MAPS, 0, configMap="settigns", mountPath="/conf"))
    page = wizard.open(wizard.at(2)).page
    assert "namespace has settings." in page
    assert wizard.plan().is_submittable


def test_a_variable_is_offered_the_config_maps_too(wizard: Wizard, project: Project) -> None:
    names = ["trainyard-team-a/settings"]
    on(project, "kubernetes", schedulers=["kai-scheduler"], config_maps=names)
    variable = {"name": "LR", "source": "configMap", "value": "settigns", "key": "lr"}
    cells = {f"{VARIABLES}-0-{key}": value for key, value in variable.items()}
    wizard.ready().save(2, **{VARIABLES: "rows", f"{VARIABLES}-0-rest": "", **cells})
    page = wizard.open(wizard.at(2)).page
    assert f'<datalist id="{VARIABLES}-0-value-list"><option value="settings">' in page
    assert "namespace has settings." in page


def test_names_that_the_cluster_does_not_list_are_typed(wizard: Wizard, project: Project) -> None:
    on(project, "kubernetes")
    wizard.ready().save(2, **item(CLAIMS, 0, claimName="imagnet", path="/data"))
    wizard.save(2, **item(MAPS, 0, configMap="settings", mountPath="/conf"))
    wizard.save(2, **item("worker-storage-secretVolume", 0, secret="keys", mountPath="/keys"))
    page = wizard.open(wizard.at(2)).page
    assert "Pods wait until there is one" not in page
    for names in ("claims", "ConfigMaps"):
        assert f"Trainyard may not list {names} on this cluster: enter the name." in page
    assert "Trainyard lists no Secrets: enter the name." in page


@pytest.mark.parametrize("kind", ["local", "slurm", "kubernetes"])
def test_an_environment_with_a_probe_says_where_it_cannot_be_used(
    wizard: Wizard, project: Project, kind: str
) -> None:
    on(project, kind)
    probing: Environment = EnvironmentFactory(home=project, name="probing")
    probing.spec_json |= {"probes": PROBE}
    probing.save()
    page = wizard.ready().open(wizard.at(2)).page
    refused = kind != "kubernetes"
    assert ("a rank is healthy while it runs" in page) is refused
    its = page[page.index(f'value="{probing.pk}"') :]
    assert (" disabled" in its[: its.index(">")]) is refused
    assert not Workload.objects.exists()


def test_a_part_of_a_gpu_cannot_be_chosen_on_whole_gpus(wizard: Wizard, project: Project) -> None:
    on(project, "slurm")
    part = ComputeResourceFactory(home=project, name="a-tenth")
    page = wizard.ready().open(wizard.at(2)).page
    its = page[page.index(f'value="{part.pk}"') :]
    assert " disabled" in its[: its.index(">")]
    assert "Slurm gives whole GPUs" in its


@pytest.mark.parametrize(
    ("framework", "why"),
    [
        ("JAX", "The JAXJob has no master; choose Workers only."),
        ("MPI", "The MPIJob needs a launcher; choose Workers &amp; master."),
        ("XGBoost", "The XGBoostJob needs a master; choose Workers &amp; master."),
        ("PyTorch", ""),
    ],
)
def test_an_architecture_that_a_framework_lacks_says_why(
    wizard: Wizard, on_kubernetes: Project, framework: str, why: str
) -> None:
    draft = wizard.ready().draft
    draft.document["framework"] = framework
    draft.save()
    page = wizard.open(wizard.at(1)).page
    assert why in page
    assert ("has no master" in page or "Job needs a" in page) is bool(why)


def test_an_architecture_that_a_framework_lacks_is_to_do_before_all_else_is_filled_in(
    wizard: Wizard, on_kubernetes: Project
) -> None:
    wizard.open()
    wizard.save(1, cluster=str(on_kubernetes.cluster_id), project=str(on_kubernetes.pk))
    wizard.save(1, framework="JAX", architecture="workers_and_master")
    plan = wizard.plan()
    assert plan.spec is None
    reasons = [it.message for it in plan.problems if it.path == ("architecture",)]
    assert reasons == ["the JAXJob has no master; choose Workers only"]
    wizard.save(1, architecture="workers_only")
    assert ("architecture",) not in {it.path for it in wizard.plan().problems}


@pytest.mark.usefixtures("on_kubernetes")
def test_a_data_source_of_a_disconnected_cluster_cannot_be_selected(
    wizard: Wizard, project: Project
) -> None:
    source = DataSourceFactory(home=project, name="images")
    page = wizard.ready().open(wizard.at(2)).press("add:worker-dataSources").page
    assert f'<option value="{source.pk}"' in page
    Cluster.objects.update(state=State.DISCONNECTED, state_message="No answer.")
    page = wizard.open(wizard.at(2)).page
    assert f'<option value="{source.pk}"' not in page
    assert f"images: the cluster {project.cluster} is disconnected" in page


def test_a_chosen_data_source_keeps_its_name_when_its_cluster_is_disconnected(
    wizard: Wizard, project: Project
) -> None:
    source = DataSourceFactory(home=project, name="images")
    wizard.ready().save(2, **item("worker-dataSources", id=str(source.pk)))
    Cluster.objects.update(state=State.DISCONNECTED, state_message="No answer.")
    page = wizard.open(wizard.at(2)).page
    assert f"images: the cluster {project.cluster} is disconnected</option>" in page


def test_what_is_not_on_the_cluster_is_named_by_itself(wizard: Wizard, project: Project) -> None:
    on(project, "local")
    page = wizard.ready().open(wizard.at(2)).page
    labels = re.findall(r"<li><strong>([^<]*)</strong>: not on this cluster", page)
    assert any("Existing ConfigMap" in names for names in labels)
    assert not any("Or " in names for names in labels)
