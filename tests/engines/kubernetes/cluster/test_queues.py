"""KAI's queues become what is wanted, on a real API server, and others' stay as they are."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
import yaml

from engines.base import EngineRefused, Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.cluster.discovery import capabilities, served_resources
from engines.kubernetes.cluster.queues import API, QUEUES, manifest
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.labels import QUEUES_OF
from engines.kubernetes.manifests.job import manifests as render
from engines.kubernetes.manifests.pod.scheduling import QUEUE as LABEL
from engines.kubernetes.names import department_queue, project_queue, queue_label_value
from engines.queues import Queue
from tests.engines.kubernetes.cases import case
from tests.engines.kubernetes.conftest import PREFIX
from tests.engines.kubernetes.queue_cases import GOLDEN, WANTED, text

TEAM = WANTED[0]
RESEARCH = WANTED[2]
OTHERS = "trainyard-test-other-"  # another Trainyard's prefix, which begins as ours does


def test_the_manifests_are_as_the_golden_file() -> None:
    assert text() == GOLDEN.read_text()


def test_the_manifest_of_a_queue_says_every_bound() -> None:
    """What is left out means to KAI that nothing is allowed."""
    for queue in WANTED:
        resources = manifest(queue, "")["spec"]["resources"]
        assert [set(bounds) for bounds in resources.values()] == [
            {"quota", "limit", "overQuotaWeight"}
        ] * 3


def test_a_job_names_the_queue_of_its_project() -> None:
    launch = case("pytorch-kai")
    anywhere = launch.spec.model_copy(update={"node_pools": ()})
    job = render(replace(launch, spec=anywhere), prefix="trainyard-")[-1]
    pods = [it["template"] for it in job["spec"]["pytorchReplicaSpecs"].values()]
    named = {it["metadata"]["labels"][LABEL] for it in (job, *pods)}
    assert named == {manifest(TEAM, "trainyard-")["metadata"]["name"]}


def test_a_job_names_the_queue_of_the_first_pool_that_it_names() -> None:
    launch = case("pytorch-kai")
    spec = launch.spec.model_copy(update={"node_pools": ("a100", "t4")})
    site = replace(launch.site, pools={"a100": ("gpu", "a100"), "t4": ("gpu", "t4")})
    job = render(replace(launch, spec=spec, site=site), prefix="trainyard-")[-1]
    queue = replace(TEAM, pool="a100")
    assert job["metadata"]["labels"][LABEL] == manifest(queue, "trainyard-")["metadata"]["name"]


def test_queues_of_a_pool_are_below_the_department_there() -> None:
    department = manifest(replace(RESEARCH, pool="a100"), PREFIX)
    project = manifest(replace(TEAM, pool="a100"), PREFIX)
    assert project["spec"]["parentQueue"] == department["metadata"]["name"]
    assert "a100" in department["metadata"]["name"]
    assert project["metadata"]["name"] != manifest(TEAM, PREFIX)["metadata"]["name"]


def test_names_of_queues_are_valid_and_differ() -> None:
    names = ["a", "b-a", "b", "a" * 40, "a" * 39 + "b"]
    made = {
        named(name, prefix)
        for named, name, prefix in product(
            (project_queue, department_queue), names, ("t-", "t-b-", "t" * 23)
        )
    }
    assert len(made) == 2 * 5 * 3
    assert all(len(name) <= 63 and name.replace("-", "").isalnum() for name in made)


class Counting:
    """An API that notes what is written."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.written = list[str]()
        self.all_items = api.all_items

    def apply(self, path: str, item: Manifest) -> None:
        self.written.append(path)
        self.api.apply(path, item)

    def delete(self, path: str) -> None:
        self.written.append(path)
        self.api.delete(path)


@pytest.fixture
def kai(api: Api) -> Iterator[Api]:
    if "queues" not in served_resources(api, API):
        pytest.skip("this cluster has no KAI")
    _clean(api)
    yield api
    _clean(api)


def _clean(api: Api) -> None:
    for name in names(api, PREFIX) | names(api, OTHERS):
        api.delete(f"{QUEUES}/{name}")


def names(api: Api, prefix: str) -> set[str]:
    found = api.items(QUEUES, labelSelector=f"{QUEUES_OF}={queue_label_value(prefix)}")
    return {item["metadata"]["name"] for item in found}


def keep(api: Api, *wanted: Queue, prefix: str = PREFIX) -> list[str]:
    """What had to be written."""
    counting = Counting(api)
    KubernetesEngine(counting, prefix=prefix).keep_queues(lambda: wanted)  # type: ignore[arg-type] # the part of it that is used
    return counting.written


@pytest.mark.kubernetes
@pytest.mark.kai
def test_the_api_server_accepts_the_golden_file(kai: Api) -> None:
    for item in yaml.safe_load_all(GOLDEN.read_text()):
        accepted = kai.apply(f"{QUEUES}/{item['metadata']['name']}", item, dryRun="All")
        assert accepted["spec"] == item["spec"]
    assert capabilities(kai).quotas


@pytest.mark.kubernetes
@pytest.mark.kai
def test_only_queues_that_differ_are_written(kai: Api) -> None:
    assert len(keep(kai, *WANTED)) == len(WANTED)
    assert keep(kai, *WANTED) == []
    path = f"{QUEUES}/{project_queue('team-a', PREFIX)}"
    assert keep(kai, replace(TEAM, gpus=3.0), *WANTED[1:]) == [path]
    assert kai.get(path)["spec"]["resources"]["gpu"]["quota"] == 3
    others = {"preemptMinRuntime": "7m", "resources": {"gpu": {"limit": 1}}}
    kai.merge(path, {"spec": others})
    assert keep(kai, replace(TEAM, gpus=3.0), *WANTED[1:]) == [path]
    spec = kai.get(path)["spec"]
    assert (spec["preemptMinRuntime"], spec["resources"]["gpu"]["limit"]) == ("7m", -1)


@pytest.mark.kubernetes
@pytest.mark.kai
def test_left_over_queues_are_deleted_and_those_of_others_stay(kai: Api) -> None:
    keep(kai, TEAM, RESEARCH, prefix=OTHERS)
    keep(kai, TEAM, RESEARCH)
    others = names(kai, OTHERS)
    keep(kai)
    assert names(kai, PREFIX) == {department_queue("research", PREFIX)}
    keep(kai)
    assert (names(kai, PREFIX), names(kai, OTHERS)) == (set(), others)


@pytest.mark.kubernetes
@pytest.mark.kai
def test_a_department_that_is_renamed_keeps_its_projects(kai: Api) -> None:
    keep(kai, TEAM, RESEARCH)
    wanted = [replace(TEAM, department="science"), replace(RESEARCH, name="science")]
    assert len(keep(kai, *wanted)) == 2
    keep(kai, *wanted)  # the old one has no project any more and goes
    science = department_queue("science", PREFIX)
    team = project_queue("team-a", PREFIX)
    assert names(kai, PREFIX) == {science, team}
    assert kai.get(f"{QUEUES}/{team}")["spec"]["parentQueue"] == science


@pytest.mark.kubernetes
@pytest.mark.kai
def test_a_queue_created_while_queues_are_read_stays(kai: Api) -> None:
    def wanted() -> list[Queue]:
        keep(kai, TEAM, RESEARCH)  # another process, for a project that is new
        return [TEAM, RESEARCH]

    KubernetesEngine(kai, prefix=PREFIX).keep_queues(wanted)
    assert len(names(kai, PREFIX)) == 2


@pytest.mark.kubernetes
@pytest.mark.kai
def test_a_queue_that_is_refused_does_not_keep_back_the_others(kai: Api) -> None:
    bad = replace(TEAM, name="UPPER_CASE")
    with pytest.raises(EngineRefused, match="UPPER_CASE"):
        keep(kai, RESEARCH, bad, TEAM)
    assert project_queue("team-a", PREFIX) in names(kai, PREFIX)
