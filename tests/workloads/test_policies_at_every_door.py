"""One request that breaks a policy, through every door: each refuses it with the same problems."""

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import pytest
import yaml

from accounts.models import User
from projects.models import Project
from spec.draft import WorkloadDraft
from spec.formats.draft_yaml import Names, write_draft_yaml
from spec.phases import Phase
from tests.caller import Caller
from tests.factories import TemplateFactory
from tests.policies.examples import Tree, make_policy
from tests.trainyard_cli.receiver import Receiver, receiver
from tests.workloads.wizard.browser import Wizard
from tests.workloads.wizard.conftest import owner, project, wizard
from trainyard_cli.flags.line import command_line
from workloads.api.bodies import DistributedIn
from workloads.api.submissions.distributed import draft_of
from workloads.models import Draft, Workload
from workloads.wizard.pages.outputs import Outputs

__all__ = ["owner", "project", "receiver", "wizard"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
SPEC: dict[str, Any] = {
    "image": "other:1",
    "command": "python train.py",
    "numWorkers": 3,
    "distributedFramework": "PyTorch",
    "compute": {"cpuCoreRequest": 0.1, "cpuMemoryRequest": "200M"},
    "environmentVariables": [{"name": "NCCL_DEBUG", "value": "INFO"}],
}
POLICY: Tree = {
    "defaults": {
        "worker": {
            "environmentVariables": {"instances": [{"name": "NCCL_DEBUG", "value": "WARN"}]},
        }
    },
    "rules": {
        "worker": {
            "image": {"startsWith": "reg/", "why": "Only images of our registry are scanned"},
            "numWorkers": {"max": 2},
            "compute": {"cpuMemoryRequest": {"max": "100M"}},
            "environmentVariables": {"instances": {"locked": ["NCCL_DEBUG"]}},
            "workingDir": {"required": True},
        }
    },
}
#: What each door refuses: the field of the request, and the rule that it breaks.
REFUSED = {
    ("spec.image", "options"),
    ("spec.numWorkers", "max"),
    ("spec.compute.cpuMemoryRequest", "max"),
    ("spec.environmentVariables.0", "locked"),
    ("spec.workingDir", "required"),
}
#: The same without anything that breaks a rule, and without what the policy adds by default.
REMOVING = SPEC | {
    "numWorkers": 2,
    "environmentVariables": [{"name": "NCCL_DEBUG", "exclude": True}],
    "labels": [{"name": "team", "exclude": True}, {"name": "own", "value": "1"}],
    "tolerations": [{"name": "gpu", "exclude": True}],
}
ADDING: Tree = {
    "defaults": {
        "worker": {
            "environmentVariables": {
                "instances": [
                    {"name": "NCCL_DEBUG", "value": "WARN"},
                    {"name": "SEED", "value": "7"},
                ]
            },
            "labels": {"instances": [{"name": "team", "value": "a"}]},
            "tolerations": {"instances": [{"name": "gpu", "key": "gpu", "operator": "Exists"}]},
        }
    },
    "rules": {"worker": {"tolerations": {"instances": {"canAdd": False}}}},
}
SCRIPTED = ("command", "numWorkers", "distributedFramework")  # what the script says instead
SCRIPT = "#!/bin/bash\n#SBATCH --ntasks=3\nsrun python train.py\n"


@dataclass
class Doors:
    """Send the same request through each door, and return what refuses it: field, rule, policy."""

    project: Project
    wizard: Wizard
    receiver: Receiver
    workload: Workload
    spec: dict[str, Any] = field(default_factory=lambda: SPEC)

    @property
    def body(self) -> dict[str, Any]:
        return {"name": "train", **self.place, "spec": self.spec}

    @property
    def place(self) -> dict[str, str]:
        return {"projectId": str(self.project.pk), "clusterId": str(self.project.cluster_id)}

    @property
    def draft(self) -> WorkloadDraft:
        return draft_of(DistributedIn.model_validate(self.body), by=self.wizard.user)

    def rest(self) -> set[tuple[str, str, str]]:
        return self._send("distributed", self.body)

    def batch(self) -> set[tuple[str, str, str]]:
        found = self._send("distributed/batch-create", {"workloads": [self.body]})
        start = "workloads.0."
        return {(field.removeprefix(start), rule, source) for field, rule, source in found}

    def dry_run(self) -> set[tuple[str, str, str]]:
        return self._send("distributed?dryRun=true", self.body)

    def command_line(self) -> set[tuple[str, str, str]]:
        line = command_line({"name": "train", "spec": self.spec}, "distributed", "team-a")
        return self._send("distributed", self.receiver.request(line) | self.place)

    def shown_request(self) -> set[tuple[str, str, str]]:
        """Send the request that the wizard shows for the draft."""
        Draft.objects.create(owner=self.wizard.user, document=self.draft.model_dump(mode="json"))
        return self._send("distributed", yaml.safe_load(Outputs(self.wizard.plan()).yaml))

    def shown_line(self) -> set[tuple[str, str, str]]:
        """Type the command line that the wizard shows for the draft."""
        Draft.objects.create(owner=self.wizard.user, document=self.draft.model_dump(mode="json"))
        line = Outputs(self.wizard.plan()).line
        return self._send("distributed", self.receiver.request(line) | self.place)

    def template(self) -> set[tuple[str, str, str]]:
        template = TemplateFactory(home=self.project, draft_json=self.draft.model_dump(mode="json"))
        return self._send("distributed", self.body | {"spec": {}, "templateId": str(template.pk)})

    def yaml(self) -> set[tuple[str, str, str]]:
        text = write_draft_yaml(self.draft, Names())
        self.wizard.open("/workloads/new/?yaml").press("", yaml=text)
        return self._create()

    def saved_draft(self) -> set[tuple[str, str, str]]:
        Draft.objects.create(owner=self.wizard.user, document=self.draft.model_dump(mode="json"))
        return self._create()

    def copy(self) -> set[tuple[str, str, str]]:
        self.wizard.client.post(f"/workloads/{self.workload.pk}/copy/")
        draft = self.wizard.draft
        draft.document = draft.document | {"name": "train"}
        draft.save()
        return self._create()

    def _send(self, path: str, body: dict[str, Any]) -> set[tuple[str, str, str]]:
        _, answer = Caller(self.wizard.user)("POST", f"/workloads/{path}", body)
        return {
            (it["field"], it["rule"], it["source"]) for it in answer.get("complianceIssues", ())
        }

    def _create(self) -> set[tuple[str, str, str]]:
        self.wizard.open(self.wizard.at(3)).press("create")
        if Workload.objects.filter(name="train").exists():
            return set()
        problems = self.wizard.plan().problems
        for problem in problems:
            assert problem.message.partition(":")[0] in self.wizard.page
        return {
            ("spec." + problem.field.removeprefix("worker."), problem.rule, problem.source)
            for problem in problems
        }


@pytest.fixture
def doors(owner: User, project: Project, wizard: Wizard, receiver: Receiver) -> Doors:
    """The doors of a project whose policy is younger than its workload."""
    place = {"projectId": str(project.pk), "clusterId": str(project.cluster_id)}
    body = {"name": "before", **place, "spec": SPEC}
    status, made = Caller(owner)("POST", "/workloads/distributed", body)
    assert status == 202, made
    make_policy(project, POLICY)
    return Doors(project, wizard, receiver, Workload.objects.get(name="before"))


DOORS = (
    *(Doors.rest, Doors.batch, Doors.dry_run, Doors.command_line, Doors.template),
    *(Doors.yaml, Doors.saved_draft, Doors.copy),
)
NAMES = attrgetter("__name__")


@pytest.mark.parametrize("door", DOORS, ids=NAMES)
def test_each_door_refuses_what_the_policy_does_not_allow(
    door: Callable[[Doors], set[tuple[str, str, str]]], doors: Doors
) -> None:
    source = f"policy limits of Project {doors.project}"
    assert door(doors) == {(field, rule, source) for field, rule in REFUSED}
    assert not Workload.objects.filter(name="train").exists()


def values_of_lists(workload: Workload) -> dict[str, list[str]]:
    names = ("environmentVariables", "labels", "tolerations")
    return {
        name: [it["name"] for it in workload.spec_json["worker"].get(name, [])] for name in names
    }


#: What is left of the defaults, and what the request adds.
REMAINING = {"environmentVariables": ["SEED"], "labels": ["own"], "tolerations": []}


@pytest.mark.parametrize("door", [*DOORS, Doors.shown_request, Doors.shown_line], ids=NAMES)
def test_each_door_can_remove_what_the_policy_adds_by_default(
    door: Callable[[Doors], set[tuple[str, str, str]]], doors: Doors
) -> None:
    make_policy(doors.project, ADDING)
    doors.spec = REMOVING
    doors.workload.draft_json = doors.draft.model_dump(mode="json")
    doors.workload.save()
    assert door(doors) == set()
    for workload in Workload.objects.filter(name="train"):
        assert values_of_lists(workload) == REMAINING
    assert Workload.objects.filter(name="train").exists() == (door is not Doors.dry_run)


def test_a_batch_script_can_remove_what_the_policy_adds_by_default(doors: Doors) -> None:
    make_policy(doors.project, ADDING)
    spec = {key: value for key, value in REMOVING.items() if key not in SCRIPTED}
    script = SCRIPT.replace("ntasks=3", "ntasks=2")
    body = {"name": "train", **doors.place, "script": script, "spec": spec}
    status, answer = Caller(doors.wizard.user)("POST", "/workloads/from-sbatch", body)
    assert status == 202, answer
    assert values_of_lists(Workload.objects.get(name="train")) == REMAINING


def test_a_batch_script_is_refused_by_the_same_policy(doors: Doors) -> None:
    spec = {key: SPEC[key] for key in ("image", "compute", "environmentVariables")}
    body = {"name": "train", **doors.place, "script": SCRIPT, "spec": spec}
    status, answer = Caller(doors.wizard.user)("POST", "/workloads/from-sbatch", body)
    assert status == 400, answer
    found = {(it["field"], it["rule"]) for it in answer["complianceIssues"]}
    assert found == REFUSED


def test_a_manifest_is_refused_at_its_own_fields(doors: Doors) -> None:
    container = {
        "name": "pytorch",
        "image": SPEC["image"],
        "command": ["python", "train.py"],
        "env": SPEC["environmentVariables"],
        "resources": {"requests": {"cpu": "100m", "memory": "200M"}},
    }
    pod = {"spec": {"containers": [container]}}
    replicas = {
        "Master": {"replicas": 1, "template": pod},
        "Worker": {"replicas": 3, "template": pod},
    }
    manifest = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "train"},
        "spec": {"pytorchReplicaSpecs": replicas},
    }
    body = {"metadata": doors.place, "manifest": manifest}
    status, answer = Caller(doors.wizard.user)("POST", "/workloads/manifests", body)
    assert status == 400, answer
    found = {(it["field"].rpartition(".")[2], it["rule"]) for it in answer["complianceIssues"]}
    assert found == {
        ("image", "options"),
        ("replicas", "max"),
        ("resources", "max"),
        ("0", "locked"),
        ("workingDir", "required"),
    }
    assert {it["source"] for it in answer["complianceIssues"]} == {
        f"policy limits of Project {doors.project}"
    }


def test_a_stopped_workload_runs_again_whatever_the_policy_says(doors: Doors) -> None:
    Workload.objects.update(phase=Phase.STOPPED)
    path = f"/workloads/distributed/{doors.workload.pk}/resume"
    status, answer = Caller(doors.wizard.user)("POST", path)
    assert status == 202, answer
