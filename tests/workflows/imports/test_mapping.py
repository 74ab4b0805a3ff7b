from spec.workload import Replica
from tests.workflows.imports.files import PIPELINE, import_text, one_task
from workflows.graph import CodeRange, ExitAction, TaskInput
from workflows.imports.mapping import FAIL_FAST, map_workflow
from workflows.imports.reading import read_workflow
from workflows.imports.replicas import KnownNames, role_names
from workflows.imports.report import NoteKind

KNOWN = KnownNames(platforms={"a40": "nvidia-a40"}, credentials={"wandb": ["key"], "ssh": ["ssh"]})


def test_groups_come_after_those_that_they_wait_for() -> None:
    training, evaluate = import_text(PIPELINE, KNOWN).graph.groups
    assert (training.name, training.upstream) == ("training", ())
    assert (evaluate.name, evaluate.upstream) == ("evaluate", ("training",))
    for group in (training, evaluate):
        assert group.exec_timeout_seconds == 36_000
        assert group.queue_timeout_seconds == 600


def test_a_group_of_tasks_becomes_roles() -> None:
    group = import_text(PIPELINE, KNOWN).graph.groups[1]
    first, second = group.document["roles"]
    assert (first["name"], first["count"], first["leads"]) == ("eval-1", 1, True)
    assert (second["name"], second["count"], second["leads"]) == ("eval-2", 1, False)
    assert first["command"] == "python eval.py"
    assert first["args"] == (
        "/osmo/data/input/0 /osmo/data/input/1 eval-2 '{{workflow_id}}' '$$(date)'"
    )
    assert first["environmentVariables"] == [
        {"name": "DEBUG", "value": "True"},
        {"name": "LEVEL", "value": "3"},
        {"name": "PRICE", "value": "$$(A) $$$$"},
    ]
    assert group.document["ignoreNonLeadStatus"] is True
    assert group.document["barrier"] is False
    assert [(task.name, task.role, task.leads) for task in group.tasks] == [
        ("Eval_1", "eval-1", True),
        ("Eval_2", "eval-2", False),
    ]
    assert group.tasks[0].inputs == (
        TaskInput(),
        TaskInput(task="train"),
        TaskInput(workflow="pipeline-3", task="train"),
        TaskInput(),
    )
    assert first["storage"]["s3"] == [{"bucket": "bucket/data", "path": "/osmo/data/input/0"}]
    assert first["storage"]["hostPath"] == [
        {"path": "/srv/mnist", "mountPath": "/osmo/data/input/3", "readOnly": True}
    ]
    assert not group.tasks[0].keeps_output


def test_a_single_task_becomes_a_training_of_one_pod() -> None:
    group = import_text(PIPELINE, KNOWN).graph.groups[0]
    assert group.document["kind"] == "training"
    replica = Replica.model_validate(group.document["worker"])
    assert replica.command == "sh '/run me.sh'"
    assert replica.compute.gpu_devices_request == 1
    assert replica.compute.cpu_core_request == 4
    assert replica.compute.cpu_memory_request == "8Gi"
    assert replica.compute.large_shm_request
    assert replica.node_type == "nvidia-a40"
    assert replica.node_affinity_required is not None
    (variable,) = replica.environment_variables
    assert (variable.name, variable.credential and variable.credential.key) == ("WANDB_KEY", "key")
    storage = replica.storage
    assert [(host.path, host.mount_path) for host in storage.host_path] == [("/srv/data", "/data")]
    assert [secret.mount_path for secret in storage.secret_volume] == ["/root/.ssh"]
    assert [volume.path for volume in storage.empty_dir_volume] == ["/osmo/data/output"]
    assert {
        volume.mount_path: (volume.texts[str(volume.sub_path)], volume.default_mode)
        for volume in storage.config_map_volume
    } == {
        "/run me.sh": ("cp a /osmo/data/output\n", "0755"),
        "/b64": ("text\n", "0755"),
        "/osmo/data/output/note": ("hi", "0755"),
    }
    (task,) = group.tasks
    assert task.leads
    assert task.keeps_output
    assert task.role == ""
    assert task.exit_actions == {
        ExitAction.FAIL: (CodeRange(first=1, last=3), CodeRange(first=137, last=137)),
        ExitAction.RESCHEDULE: (CodeRange(first=75, last=75),),
    }


def test_what_has_no_effect_is_noted_at_its_line() -> None:
    notes = import_text(PIPELINE, KNOWN).notes
    ignored = [(note.line, note.text.split()[0]) for note in notes if note.kind is NoteKind.IGNORED]
    assert ignored == [(3, "pool"), (36, "kpis")]


def test_reliance_on_the_default_of_osmo_is_noted() -> None:
    silent = PIPELINE.replace("    ignoreNonleadStatus: true\n", "")
    graph = import_text(silent, KNOWN)
    assert graph.graph.groups[1].document["ignoreNonLeadStatus"] is False
    assert FAIL_FAST in [note.text for note in graph.notes if note.line == 8]
    assert FAIL_FAST not in [note.text for note in import_text(PIPELINE, KNOWN).notes]


def test_a_local_file_is_not_rendered() -> None:
    program = "print(f'{{1}}', '{% raw %}')  # {{output}}\n"
    text = one_task("files:\n- path: /a.py\n  localpath: a.py\n")
    imported = map_workflow(read_workflow(text), files={"a.py": program})
    (volume,) = imported.graph.groups[0].document["worker"]["storage"]["configMapVolume"]
    assert volume["files"] == [
        {"name": "a.py", "content": "print(f'{{1}}', '{% raw %}')  # /osmo/data/output\n"}
    ]
    assert [note.line for note in imported.notes if "as it is" in note.text] == [9]


def test_what_runs_on_a_machine_is_noted() -> None:
    script = (
        "apt-get -y install netcat\nnc -z localhost 29500\n"
        "ln -fs /usr/share/zoneinfo/UTC /etc/localtime\ncat /etc/hosts\n# > /etc/motd\n"
    )
    imported = map_workflow(
        read_workflow(one_task("files:\n- path: /a.sh\n  localpath: a.sh\n")),
        files={"a.sh": script},
    )
    texts = " ".join(note.text for note in imported.notes if note.kind is NoteKind.DIFFERS)
    assert "29500 in /a.sh becomes another port" in texts
    assert "/a.sh installs packages" in texts
    assert "/a.sh changes /etc/localtime for everyone" in texts
    assert ("/etc/hosts" in texts, "/etc/motd" in texts) == (False, False)


def test_text_before_the_first_section_is_noted() -> None:
    assert import_text("\n# a\n{% set a = 1 %}\n" + one_task()).notes[0].line == 3


def test_names_of_roles_are_host_names_and_stay_apart() -> None:
    tasks = ["Master", "worker_1", "x" * 64, "x" * 63]
    names = role_names(tasks)
    assert names["Master"] == "master"
    assert names["worker_1"] == "worker-1"
    assert len(set(names.values())) == 4
    assert max(map(len, names.values())) == 40
