"""Where the class of a failure is shown: card, table, filter, REST."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from projects.models import Project
from spec.phases import Reason
from tests.caller import Caller
from tests.factories import WorkloadFactory, add_members
from workloads import diagnosis, logs
from workloads.models import Workload

OOM = "torch.OutOfMemoryError: CUDA out of memory. <Tried> to allocate 1 GiB"


@pytest.fixture
def failed(project: Project, settings: Settings, tmp_path: Path) -> Workload:
    """The line that says why is not among the last twenty."""
    settings.LOG_STORE = tmp_path
    workload: Workload = WorkloadFactory(
        name="doomed", project=project, failed=True, reason=Reason.RANK_FAILED
    )
    workload.ranks.update(exit_code=1)
    text = "".join(f"line {n}\n" for n in range(30)) + OOM + "\n"
    text += "".join(f"[rank0]: frame {n}\n" for n in range(40))
    logs.append(logs.Stream(workload.pk, 1, 0, 0), text.encode())
    diagnosis.record_diagnosis(workload)
    WorkloadFactory(name="other", project=project, failed=True)
    workload.refresh_from_db()
    return workload


def test_the_card_has_the_line_the_fault_and_the_repair(client: Client, failed: Workload) -> None:
    shown = client.get(failed.get_absolute_url()).content.decode()
    failure = diagnosis.BY_ID["cuda-out-of-memory"]
    assert failure.label in shown
    assert "Fault: Program</span>" in shown
    assert failure.repair in shown
    mark = shown[shown.index("<mark") : shown.index("</mark>")]
    assert "CUDA out of memory. &lt;Tried&gt;" in mark
    assert "line 29\n" in shown, "some lines before it"
    assert "frame 0\n" in shown
    assert "/logs/?rank=0&amp;line=error" in shown, "its log opens there"


def test_the_card_keeps_the_line_when_the_log_is_gone(client: Client, failed: Workload) -> None:
    logs.remove(failed.pk)
    shown = client.get(failed.get_absolute_url()).content.decode()
    assert "CUDA out of memory. &lt;Tried&gt;" in shown
    assert "No output." not in shown


def test_the_card_of_a_failure_without_a_class_advises_by_its_reason(
    client: Client, failed: Workload
) -> None:
    Workload.objects.update(failure_class="", failure_line={})
    shown = client.get(failed.get_absolute_url()).content.decode()
    assert "<mark" not in shown
    assert "Read its last lines" in shown


def test_the_table_shows_a_chip_and_filters_by_the_class(client: Client, failed: Workload) -> None:
    page = client.get("/workloads/").content.decode()
    label = diagnosis.BY_ID["cuda-out-of-memory"].label
    assert f">{label}</span>" in page
    condition = urlencode({"f": "failure:is:cuda-out-of-memory", "columns": "name,failure"})
    table = client.get(f"/workloads/?{condition}").content.decode()
    assert f'data-label="Failure class">{label}</td>' in table
    assert "doomed" in table
    assert "other" not in table[table.index("<tbody") : table.index("</tbody")]


def test_rest_tells_the_class_and_where_its_line_is(failed: Workload, member: User) -> None:
    call = Caller(member)
    _, answer = call("GET", f"/workloads/{failed.pk}")
    assert answer["failure"]["failureClass"] == "cuda-out-of-memory"
    assert answer["failure"]["fault"] == "program"
    line = answer["failure"]["line"]
    stream = logs.Stream(failed.pk, 1, line["attempt"] - 1, line["rank"])
    assert logs.read_output(stream, line["offset"], len(OOM)).decode() == line["text"] == OOM
    query = urlencode({"filterBy": "failureClass==cuda-out-of-memory"})
    _, listed = call("GET", f"/workloads?{query}")
    assert [row["name"] for row in listed["workloads"]] == ["doomed"]
    _, other = call("GET", "/workloads?filterBy=name==other")
    assert other["workloads"][0]["failure"] is None


def test_rest_tells_of_a_refused_workload_that_no_line_says_why(member: User) -> None:
    refused = WorkloadFactory.create(
        created_by=member, phase="Failed", failure_class="refused", failure_line={}
    )
    add_members(refused.project, member)
    _, answer = Caller(member)("GET", f"/workloads/{refused.pk}")
    assert answer["failure"]["failureClass"] == "refused"
    assert answer["failure"]["line"] is None
