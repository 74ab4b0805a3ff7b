"""Lists, filters, events, pods, logs and batches over REST."""

from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from projects.models import Project
from tests.caller import Caller
from tests.disks import needs_holes
from tests.factories import WorkloadFactory
from workloads import logs, services
from workloads.models import Workload


def names(call: Caller, **query: object) -> list[str]:
    status, answer = call("GET", f"/workloads?{urlencode(query, doseq=True)}")
    assert status == 200, answer
    return [row["name"] for row in answer["workloads"]]


@pytest.fixture
def three(project: Project) -> list[Workload]:
    return [
        WorkloadFactory.create(project=project, name="alpha", running=True, gpus=1),
        WorkloadFactory.create(project=project, name="beta", completed=True, gpus=2),
        WorkloadFactory.create(project=project, name="gamma", failed=True, gpus=3),
    ]


@pytest.mark.parametrize("text", ["²", "9" * 5000, "x"])
def test_a_project_id_that_is_none_is_named(call: Caller, text: str) -> None:
    body = {"name": "a", "projectId": text, "clusterId": str(uuid4()), "spec": {}}
    status, answer = call("POST", "/workloads/distributed", body)
    assert status == 400
    assert answer["complianceIssues"][0]["field"] == "projectId"


def test_nothing_is_beyond_the_last_page(call: Caller) -> None:
    assert call("GET", f"/workloads?offset={10**30}") == (200, {"workloads": [], "next": None})


def test_a_batch_has_a_largest_size(call: Caller) -> None:
    ids = [str(uuid4()) for _ in range(services.MOST_AT_ONCE + 1)]
    assert call("POST", "/workloads/batch", {"ids": ids, "action": "delete"})[0] == 400


def test_a_batch_answers_for_each(call: Caller, project: Project) -> None:
    ended = WorkloadFactory(project=project, phase="Completed")
    hidden = WorkloadFactory(running=True)
    runs = WorkloadFactory(project=project, running=True)
    ids = [str(it.pk) for it in (ended, hidden, runs)]
    status, answer = call("POST", "/workloads/batch", {"ids": ids, "action": "suspend"})
    assert (status, answer["succeeded"]) == (200, [ids[2]])
    assert [(it["id"], it["code"]) for it in answer["failed"]] == [(ids[0], 409), (ids[1], 404)]
    assert Workload.objects.get(pk=hidden.pk).phase == "Running"


def test_the_time_of_the_present_phase_counts(call: Caller, project: Project) -> None:
    began = timezone.now() - timedelta(minutes=5)
    workload = WorkloadFactory(project=project, running=True, phase_updated_at=began)
    _, answer = call("GET", f"/workloads/{workload.pk}")
    assert answer["totalRunningTimeSeconds"] == pytest.approx(300, abs=60)


def test_the_last_checkpoint_is_told_with_the_work_at_risk(call: Caller, project: Project) -> None:
    began = timezone.now() - timedelta(minutes=5)
    entry = {"run": 1, "step": 200, "at": began.isoformat(), "bytes": 7}
    workload = WorkloadFactory(
        project=project, running=True, phase_updated_at=began, checkpoints=[entry]
    )
    saved = call("GET", f"/workloads/{workload.pk}")[1]["lastCheckpoint"]
    assert (saved["run"], saved["step"], saved["sizeBytes"]) == (1, 200, 7)
    assert saved["secondsAtRisk"] == pytest.approx(300, abs=60)


def test_a_workload_that_waits_says_why_with_evidence_and_the_next_step(
    call: Caller, project: Project
) -> None:
    workload = WorkloadFactory(project=project, name="first", phase="Pending")
    workload.causes.create(
        run=1,
        kind="Nodes",
        title="no node has the label gpu-type=h100",
        todo="Choose another node type, or label a node.",
        said="0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
        who="worker-0",
        evidence={"total": 3, "shares": [["no such label", 3]]},
    )
    WorkloadFactory(project=project, name="second", running=True)
    cause = call("GET", f"/workloads/{workload.pk}")[1]["cause"]
    assert (cause["kind"], cause["rank"], cause["nodes"]) == ("Nodes", "worker-0", 3)
    assert cause["evidence"].startswith("0/3 nodes are available")
    assert cause["nextStep"] == "Choose another node type, or label a node."
    assert cause["shares"] == [{"reason": "no such label", "nodes": 3}]
    listed = call("GET", "/workloads?sortBy=name")[1]["workloads"]
    assert [row["cause"] and row["cause"]["kind"] for row in listed] == ["Nodes", None]


def test_pages_meet_every_workload_once(call: Caller, project: Project) -> None:
    WorkloadFactory.create_batch(7, project=project)
    seen = []
    offset = 0
    while offset is not None:
        _, answer = call("GET", f"/workloads?limit=3&offset={offset}")
        seen += [row["id"] for row in answer["workloads"]]
        offset = answer["next"]
    assert len(seen) == len(set(seen)) == 7


def test_only_ones_own_projects_are_listed_and_counted(
    stranger: Caller, call: Caller, three: list[Workload]
) -> None:
    assert names(stranger) == []
    assert stranger("GET", "/workloads/count")[1] == {"count": 0}
    assert call("GET", "/workloads/count?filterBy=phase==Failed")[1] == {"count": 1}


@pytest.mark.parametrize("part", ["", "/events", "/pods", "/logs"])
def test_a_stranger_finds_no_part_of_a_workload(
    stranger: Caller, call: Caller, three: list[Workload], part: str
) -> None:
    assert stranger("GET", f"/workloads/{three[0].pk}{part}")[0] == 404
    assert call("GET", f"/workloads/{three[0].pk}{part}")[0] == 200


def test_a_workload_is_read_with_its_spec_pods_and_events_at_once(
    call: Caller, three: list[Workload]
) -> None:
    plain = call("GET", f"/workloads/{three[0].pk}")[1]
    assert (plain["spec"], plain["pods"], plain["events"]) == (None, None, None)
    _, whole = call("GET", f"/workloads/{three[0].pk}?expand=spec,pods,events")
    assert whole["spec"]["numWorkers"] == 2
    assert (whole["noMaster"], whole["masterSpec"]) == (False, None)
    for part in ("pods", "events"):
        assert whole[part] == call("GET", f"/workloads/{three[0].pk}/{part}")[1][part]
    assert call("GET", f"/workloads/{three[0].pk}?expand=podz")[0] == 400
    _, answer = call("GET", f"/workloads/{three[0].pk}?expand=commandLine")
    assert answer["commandLine"].startswith(f"trainyard training pytorch submit {three[0].name}")
    assert "--backoff-limit" not in answer["commandLine"], "that is as by default"


def test_logs_are_read_on_from_an_offset(call: Caller, three: list[Workload]) -> None:
    logs.append(logs.Stream(three[0].pk, 1, 0, 1), b"hello\nworld\n")
    _, first = call("GET", f"/workloads/{three[0].pk}/logs?rank=1&limit=6")
    assert (first.content, first["X-Next-Offset"]) == (b"hello\n", "6")
    _, rest = call("GET", f"/workloads/{three[0].pk}/logs?rank=1&offset=6")
    assert rest.content == b"world\n"


def test_a_log_whose_head_was_cut_is_read_from_there(
    call: Caller, three: list[Workload], tmp_path: Path
) -> None:
    needs_holes(tmp_path)
    stream = logs.Stream(three[0].pk, 1, 0, 1)
    logs.append(stream, b"a line of it\n" * 20_000)
    logs.cut_head(stream, 1_000)
    _, answer = call("GET", f"/workloads/{three[0].pk}/logs?rank=1")
    assert answer.content.startswith(b"[Trainyard] ")
    assert answer["X-Next-Offset"] == str(logs.size(stream))


def test_a_batch_reports_each(call: Caller, stranger: Caller, three: list[Workload]) -> None:
    ids = [str(workload.pk) for workload in three]
    _, answer = call("POST", "/workloads/batch", {"ids": ids, "action": "suspend"})
    assert answer["succeeded"] == ids[:1]
    assert [failure["code"] for failure in answer["failed"]] == [409, 409]
    _, foreign = stranger("POST", "/workloads/batch", {"ids": ids, "action": "delete"})
    assert [failure["code"] for failure in foreign["failed"]] == [404, 404, 404]


def test_names_are_checked_before_use(call: Caller, project: Project, stranger: Caller) -> None:
    WorkloadFactory.create(project=project, name="taken")
    path = f"/workloads/name-availability?projectId={project.pk}&name="
    assert call("GET", path + "free")[1] == {"available": True, "reason": ""}
    assert call("GET", path + "taken")[1]["available"] is False
    assert stranger("GET", path + "free")[0] == 404


def test_projects_show_quota_and_use(call: Caller, stranger: Caller, project: Project) -> None:
    WorkloadFactory.create(project=project, running=True, gpus=0.5)
    _, answer = call("GET", "/org-unit/projects")
    assert answer["projects"][0]["gpu"]["allocated"] == 0.5
    assert answer["projects"][0]["id"] == str(project.pk)
    assert stranger("GET", "/org-unit/projects")[1]["projects"] == []
    assert stranger("GET", f"/org-unit/projects/{project.pk}")[0] == 404


def test_a_mistake_of_ours_is_an_answer_in_json(
    call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("workloads.api.reads.listing.filter_workloads", broken)
    status, answer = call("GET", "/workloads")
    assert (status, answer["code"]) == (500, 500)
    assert "secret" not in str(answer)


def test_a_page_reads_the_nodes_of_all_its_workloads_in_one_query(
    call: Caller, project: Project, three: list[Workload]
) -> None:
    with CaptureQueriesContext(connection) as few:
        call("GET", "/workloads")
    for number in range(5):
        workload = WorkloadFactory.create(project=project, name=f"more-{number}", running=True)
        workload.ranks.update(node=f"node-{number}")
    with CaptureQueriesContext(connection) as many:
        _, answer = call("GET", "/workloads")
    assert len(many) == len(few)
    nodes = {row["name"]: row["nodes"] for row in answer["workloads"]}
    assert (nodes["more-3"], nodes["beta"]) == (["node-3"], [])
