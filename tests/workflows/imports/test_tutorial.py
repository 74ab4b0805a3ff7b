"""The workflow of OSMO's tutorial on PyTorch is imported as it stands."""

from spec.workload import Replica
from tests.workflows.imports.files import PROGRAM, SEED
from workflows.imports.mapping import map_workflow
from workflows.imports.reading import read_workflow
from workflows.imports.report import NoteKind

FILES = {PROGRAM: "print('a program')\n"}


def test_the_tutorial_becomes_a_worker_and_a_master_that_leads() -> None:
    graph = map_workflow(read_workflow(SEED), files=FILES).graph
    (group,) = graph.groups
    assert graph.name == "pytorch-distributed-sample"
    assert [(task.name, task.leads) for task in group.tasks] == [
        ("worker", False),
        ("master", True),
    ]
    assert [task.keeps_output for task in group.tasks] == [False, True]
    for role in group.document["roles"]:
        fields = {key: role[key] for key in role.keys() - {"name", "count", "leads"}}
        replica = Replica.model_validate(fields)
        assert replica.compute.gpu_devices_request == 8
        assert replica.compute.large_shm_request == (role["name"] == "master")
        assert [volume.mount_path for volume in replica.storage.config_map_volume] == [
            "/tmp/entry.sh" if role["name"] == "worker" else "/tmp/entry1.sh",
            "/train_dist.py",
        ]


def test_scripts_keep_their_bytes_besides_tokens() -> None:
    graph = map_workflow(read_workflow(SEED), files=FILES).graph
    worker, master = graph.groups[0].document["roles"]
    script = worker["storage"]["configMapVolume"][0]["files"][0]["content"]
    assert script.startswith("apt update\napt install -y tzdata\n")
    assert "\n while ! nc -z master 29500; do\n" in script
    script = master["storage"]["configMapVolume"][0]["files"][0]["content"]
    assert script.endswith("mv /models/ /osmo/data/output/model/\n")


def test_the_report_says_what_differs() -> None:
    notes = map_workflow(read_workflow(SEED), files=FILES).notes
    differing = [note.text for note in notes if note.kind is NoteKind.DIFFERS]
    assert sum("29500" in text for text in differing) == 2
    assert sum("installs packages" in text for text in differing) == 2
    assert sum("ignoreNonleadStatus" in text for text in differing) == 1
    left_out = {note.text.split()[0] for note in notes if note.kind is NoteKind.IGNORED}
    assert left_out == {"storage", "platform"}


def test_another_platform_and_dataset_can_be_set() -> None:
    read = read_workflow(SEED, {"dataset": "mine", "platform": "b200"})
    assert "name: mine" in read.rendered
    notes = map_workflow(read, files=FILES).notes
    assert any("platform b200" in note.text for note in notes)
