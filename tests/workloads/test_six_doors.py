"""One request by form, REST, runapy, both command lines and YAML: the stored spec is the same, byte
for byte, with all its defaults."""

import json
import shlex
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from accounts.models import User
from projects.models import Project
from spec.draft import WorkloadDraft
from spec.formats import documents
from spec.formats.draft_yaml import Names, write_draft_yaml
from tests.caller import Caller
from tests.trainyard_cli.receiver import Receiver, receiver
from tests.workloads.forty import Spec, forty
from tests.workloads.wizard.browser import Wizard
from tests.workloads.wizard.conftest import on_kubernetes, owner, project, wizard
from trainyard_cli.flags.line import command_line
from trainyard_cli.flags.table import FLAGS
from workloads.api.bodies import DistributedIn
from workloads.api.submissions.distributed import draft_of
from workloads.models import Workload

__all__ = ["on_kubernetes", "owner", "project", "receiver", "wizard"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
runapy: Any = import_module("runai.models")  # which exports all its names implicitly
#: What Run:ai's first command line calls a flag, by the name that is printed.
FIRST = {it.name: it.all_names[-1] for it in FLAGS}
Send = Callable[[str, dict[str, Any]], str]


@pytest.fixture
def send(owner: User) -> Send:
    """Submit a body under a name; the spec that is stored, as it is stored."""
    call = Caller(owner)

    def sent(name: str, body: dict[str, Any]) -> str:
        status, made = call("POST", "/workloads/distributed", body | {"name": name})
        assert status == 202, made
        return stored(name)

    return sent


def stored(name: str) -> str:
    return json.dumps(Workload.objects.get(name=name).spec_json)


def body_of(spec: Spec, project: Project) -> dict[str, Any]:
    place = {"projectId": str(project.pk), "clusterId": str(project.cluster_id)}
    return {"name": "train", **place, "spec": spec}


def by_first_command_line(line: str) -> str:
    """The same in the words of ``submit-dist``."""
    words = shlex.split(line.replace("\\\n", ""))
    at = words.index("--") if "--" in words else len(words)
    framework = words[2]
    head = words[4:at]
    renamed = [_renamed(word) for word in head]
    return shlex.join(["trainyard", "submit-dist", framework, *renamed, *words[at:]])


def _renamed(word: str) -> str:
    name, equals, value = word.partition("=")
    known = FIRST.get(name, name)
    return f"{known}{equals}{value}" if known.startswith("--") or not equals else word


def by_yaml_and_form(wizard: Wizard, draft: WorkloadDraft, name: str) -> str:
    """Paste YAML, which fills the form, and send its pages as a browser does."""
    text = write_draft_yaml(draft.model_copy(update={"name": name}), Names())
    wizard.open("/workloads/new/?yaml").press("", yaml=text)
    wizard.open(wizard.at(2)).press("save")
    wizard.open(wizard.at(3)).press("create")
    return stored(name)


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(spec, id=str(number), marks=() if number % 16 == 0 else pytest.mark.extended)
        for number, spec in enumerate(forty())
    ],
)
def test_a_spec_is_stored_the_same_whichever_way_it_comes(
    spec: Spec, on_kubernetes: Project, send: Send, wizard: Wizard, receiver: Receiver
) -> None:
    body = body_of(spec, on_kubernetes)
    by_rest = send("rest", body)
    request = runapy.DistributedCreationRequest.model_validate(body)
    theirs = request.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert send("runapy", theirs) == by_rest
    line = command_line({"name": "train", "spec": spec}, "distributed", "team-a")
    for name, typed in (("second", line), ("first", by_first_command_line(line))):
        said = receiver.request(typed)
        place = {key: body[key] for key in ("projectId", "clusterId")}
        assert send(name, said | place) == by_rest, typed
    draft = draft_of(DistributedIn.model_validate(body), by=wizard.user)
    assert by_yaml_and_form(wizard, draft, "form") == by_rest
    whole = documents.dump_spec(documents.load_spec(json.loads(by_rest)))
    assert json.loads(json.dumps(whole)) == json.loads(by_rest), "with every default"


OF_THE_JOB: list[Spec] = [
    {"queue": "team"},
    {"jobLabels": [{"name": "example.com/owner", "value": "ada"}]},
    {"jobAnnotations": [{"name": "example.com/note", "value": "any text: of a job"}]},
    {
        "queue": "team.a",
        "jobLabels": [
            {"name": "kueue.x-k8s.io/priority-class", "value": "urgent"},
            {"name": "owner", "value": ""},
        ],
        "jobAnnotations": [{"name": "note", "value": "a"}, {"name": "other", "value": "b"}],
    },
]


def manifest_of(spec: Spec) -> dict[str, Any]:
    """Return the same as a manifest, which says the queue in a label."""
    container = {"name": "pytorch", "image": spec["image"], "command": ["python", "train.py"]}
    pod = {"spec": {"containers": [container]}}
    labels = {it["name"]: it["value"] for it in spec.get("jobLabels", ())}
    if queue := spec.get("queue"):
        labels["kueue.x-k8s.io/queue-name"] = queue
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {
            "name": "manifest",
            "labels": labels,
            "annotations": {it["name"]: it["value"] for it in spec.get("jobAnnotations", ())},
        },
        "spec": {
            "runPolicy": {"suspend": bool(queue)},
            "pytorchReplicaSpecs": {
                "Master": {"replicas": 1, "template": pod},
                "Worker": {"replicas": spec["numWorkers"], "template": pod},
            },
        },
    }


@pytest.mark.parametrize(
    "fields",
    [
        *(pytest.param(it, marks=pytest.mark.extended, id="+".join(it)) for it in OF_THE_JOB[:-1]),
        pytest.param(OF_THE_JOB[-1], id="all"),
    ],
)
def test_every_door_stores_the_same_queue_and_job_labels(
    fields: Spec, on_kubernetes: Project, send: Send, wizard: Wizard, receiver: Receiver
) -> None:
    cluster = on_kubernetes.cluster
    cluster.capabilities_json["kueue"] = "v1beta2"
    cluster.save()
    program = {"image": "x:1", "command": "python train.py", "numWorkers": 2}
    spec = {**program, "distributedFramework": "PyTorch", **fields}
    body = body_of(spec, on_kubernetes)
    by_rest = send("rest", body)
    assert json.loads(by_rest).items() >= fields.items()
    line = command_line({"name": "train", "spec": spec}, "distributed", "team-a")
    place = {key: body[key] for key in ("projectId", "clusterId")}
    assert send("cli", receiver.request(line) | place) == by_rest, line
    assert "--set" not in line
    draft = draft_of(DistributedIn.model_validate(body), by=wizard.user)
    assert by_yaml_and_form(wizard, draft, "form") == by_rest
    manifest = {"metadata": place, "manifest": manifest_of(spec)}
    status, made = Caller(wizard.user)("POST", "/workloads/manifests", manifest)
    assert status == 202, made
    assert stored("manifest") == by_rest
