"""Whether the policies of a project admit an asset or a template."""

from typing import Any

import pytest

from projects.models import Project
from spec.kind import WorkloadKind
from tests.caller import Caller
from tests.factories import (
    ComputeResourceFactory,
    DataSourceFactory,
    EnvironmentFactory,
    TemplateFactory,
)
from tests.policies.examples import make_policy, rule

TWO_GPUS = {"gpuDevicesRequest": 2}


def compliance(call: Caller, path: str, project: Project, **query: str) -> dict[str, Any]:
    """Return the compliance of the only asset there."""
    more = "".join(f"&{key}={value}" for key, value in query.items())
    status, answer = call("GET", f"{path}?complyToProject={project.pk}{more}")
    assert status == 200, answer
    (entry,) = answer["entries"]
    found: dict[str, Any] = entry["compliance"]
    return found


def test_an_asset_says_which_rule_it_breaks(call: Caller, project: Project) -> None:
    ComputeResourceFactory(home=project, spec_json=TWO_GPUS)
    make_policy(project, rule("compute.gpuDevicesRequest", max=1, why="One node"))
    workers = {"complyToWorkloadType": "distributed", "complyToReplicaType": "Worker"}
    found = compliance(call, "/asset/compute", project, **workers)
    assert found == {
        "imposed": False,
        "compliance": False,
        "reason": [
            {
                "field": "compute.gpuDevicesRequest",
                "details": f"must be at most 1 by policy limits of Project {project}: One node",
                "rule": "max",
                "source": f"policy limits of Project {project}",
            }
        ],
    }


def test_workers_and_master_are_judged_by_their_own_rules(call: Caller, project: Project) -> None:
    ComputeResourceFactory(home=project, spec_json=TWO_GPUS)
    make_policy(project, rule("compute.gpuDevicesRequest", max=1))

    def complies(**query: str) -> bool:
        found = compliance(call, "/asset/compute", project, **query)
        return bool(found["compliance"])

    kind = {"complyToWorkloadType": "distributed"}
    assert not complies(**kind, complyToReplicaType="Worker")
    assert complies(**kind, complyToReplicaType="Master")
    assert complies(**kind)
    assert complies(complyToWorkloadType="training")
    assert complies()


def test_an_asset_that_no_kind_of_workload_may_use_does_not_comply(
    call: Caller, project: Project
) -> None:
    EnvironmentFactory(home=project)
    image = {"options": [{"value": "reg/torch:2.5"}]}
    make_policy(project, {"rules": {"worker": {"image": image}, "master": {"image": image}}})
    for kind in (WorkloadKind.TRAINING, WorkloadKind.WORKSPACE):
        make_policy(project, {"rules": {"image": image}}, kind=kind)
    assert not compliance(call, "/asset/environment", project)["compliance"]


def test_an_imposed_data_source_says_so(call: Caller, project: Project) -> None:
    source = DataSourceFactory(home=project)
    make_policy(project, {"imposedAssets": {"worker": [str(source.pk)]}})
    found = compliance(call, "/asset/datasource", project, complyToWorkloadType="distributed")
    assert found["imposed"] is True
    found = compliance(call, "/asset/datasource", project, complyToWorkloadType="training")
    assert found["imposed"] is False


@pytest.mark.parametrize(("replica", "count"), [("", 1), ("Worker", 1), ("Master", 0)])
def test_a_template_says_which_rules_it_breaks(
    call: Caller, project: Project, replica: str, count: int
) -> None:
    draft = {"worker": {"values": {"image": "a:1", "compute": TWO_GPUS}}}
    TemplateFactory(home=project, draft_json=draft)
    needed = {"command": {"required": True}, "compute": {"gpuDevicesRequest": {"max": 1}}}
    make_policy(project, {"rules": {"worker": needed}})
    query = f"complyToProject={project.pk}" + (f"&complyToReplicaType={replica}" if replica else "")
    (entry,) = call("GET", f"/workload-templates/distributed?{query}")[1]["entries"]
    found = [(it["field"], it["rule"]) for it in entry["complianceIssues"]]
    assert found == [("spec.compute.gpuDevicesRequest", "max")] * count
