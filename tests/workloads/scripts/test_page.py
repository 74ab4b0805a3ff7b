"""A batch script on its page: read line by line, taken to the wizard, or submitted as it stands."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from projects.models import Project
from tests.factories import ProjectFactory
from tests.spec import imports
from workloads.models import Draft, Workload

pytestmark = pytest.mark.django_db

PAGE = "/workloads/new/batch-script/"
TUTORIAL = (Path(imports.__file__).parent / "tutorial.sh").read_text()
SMALL = (
    "#!/bin/bash\n#SBATCH -J small -n 2 -D /srv/code\nexport WORLD_SIZE=3\nsrun python train.py\n"
)


@pytest.fixture
def on_slurm(project: Project) -> Project:
    cluster = project.cluster
    cluster.kind = "slurm"
    cluster.settings_json = {"directory": "/shared/trainyard"}
    cluster.capabilities_json = {"frameworks": [{"framework": "PyTorch", "available": True}]}
    cluster.save()
    return project


def sent(client: Client, text: str, **more: object) -> str:
    answer = client.post(PAGE, {"script": text.replace("\n", "\r\n"), **more}, follow=True)
    return str(answer.content.decode())


def test_the_menu_of_the_table_leads_there(client: Client, project: Project) -> None:
    assert PAGE in client.get("/workloads/").content.decode()
    page = client.get(PAGE)
    assert page.status_code == 200
    assert "Read" in page.content.decode()


def test_each_placeholder_and_trap_of_the_tutorial_is_named(
    client: Client, on_slurm: Project
) -> None:
    page = sent(client, TUTORIAL)
    assert "Change 2 lines first." in page
    for said in (
        "[PATH_TO_THE_MAIN_FOLDER] has to be replaced",
        "[YOUR_CONDA_ENV] has to be replaced",
        "where slurm_monitoring does not exist",
        "Port 9304 is fixed",
        "WORLD_SIZE is written by hand",
        "Without -K a rank that fails",
        "The home folder is that of",
        "24 workers, one for each task",
        "Memory for each worker: 224 GiB",
    ):
        assert said in page, said
    assert "Create training" not in page


def test_a_script_stands_on_slurm_byte_for_byte(client: Client, on_slurm: Project) -> None:
    page = sent(client, SMALL)
    assert "It runs as it stands" in page
    assert "WORLD_SIZE is 3, but the script asks for 2 tasks" in page
    assert "small was created." in sent(client, SMALL, action="submit")
    workload = Workload.objects.get()
    assert workload.spec.batch_script == SMALL
    assert (workload.spec.num_pods, workload.spec.has_master, workload.spec.setup) == (2, False, ())


def test_a_script_becomes_a_workload_where_that_is_chosen(
    client: Client, on_slurm: Project
) -> None:
    page = sent(client, SMALL, how="as-workload")
    assert "Trainyard sets WORLD_SIZE itself" in page
    sent(client, SMALL, how="as-workload", action="submit", name="other")
    workload = Workload.objects.get()
    assert (workload.name, workload.spec.batch_script) == ("other", None)
    assert workload.spec.worker.command == "python train.py"


def test_this_machine_runs_a_script_as_it_stands(client: Client, project: Project) -> None:
    text = SMALL.replace("-D /srv/code", "-p gpu --dependency=afterok:7")
    page = sent(client, text)
    assert "It runs as it stands" in page
    assert "--dependency has no effect on this machine." in page
    assert "small was created." in sent(client, text, action="submit")
    assert Workload.objects.get().spec.batch_script == text


def test_a_kubernetes_cluster_offers_no_choice(client: Client, project: Project) -> None:
    project.cluster.kind = "kubernetes"
    project.cluster.save()
    page = sent(client, SMALL)
    assert "What it becomes" in page
    assert "As it stands" not in page


def test_a_script_without_a_project_says_so_and_the_wizard_continues(
    client: Client, on_slurm: Project
) -> None:
    ProjectFactory(members=[on_slurm.members.get()])
    page = sent(client, SMALL)
    assert "It cannot be submitted yet." in page
    sent(client, SMALL, action="wizard")
    draft = Draft.objects.get()
    assert draft.content.worker.values["command"] == "python train.py"
    assert (draft.content.name, draft.content.values["numWorkers"]) == ("small", 2)


def test_a_file_takes_the_place_of_the_text(client: Client, project: Project) -> None:
    page = sent(client, "", file=SimpleUploadedFile("test.sh", SMALL.encode()))
    assert "It runs as it stands" in page


@pytest.mark.parametrize(
    ("text", "says"), [("  ", "Paste a batch script"), ("#" * 40_000, "at most 32 KiB")]
)
def test_a_text_that_is_no_script_says_what_to_do(
    client: Client, project: Project, text: str, says: str
) -> None:
    answer = client.post(PAGE, {"script": text})
    assert answer.status_code == 422
    assert says in answer.content.decode()


def test_a_file_that_is_not_utf_8_is_refused_by_its_line(client: Client, project: Project) -> None:
    content = "#!/bin/bash\n# Müller\nsrun a\n".encode("latin-1")
    answer = client.post(PAGE, {"script": "", "file": SimpleUploadedFile("a.sh", content)})
    assert answer.status_code == 422
    assert "line 2: has bytes that are not UTF-8; save it as UTF-8." in answer.content.decode()
    long = SimpleUploadedFile("a.sh", "é".encode() * 200_000)
    assert "at most 32 KiB" in client.post(PAGE, {"file": long}).content.decode()


def test_a_byte_order_mark_is_left_out(client: Client, on_slurm: Project) -> None:
    file = SimpleUploadedFile("train 7.sh", b"\xef\xbb\xbf#!/bin/bash\n#SBATCH -n 2\ntrue\n")
    page = sent(client, "", file=file)
    assert "byte order mark" in page
    assert 'placeholder="train-7"' in page
    assert 'name="file_name" value="train 7.sh"' in page


def test_a_name_from_the_script_gets_a_number(client: Client, on_slurm: Project) -> None:
    sent(client, SMALL, action="submit")
    page = sent(client, SMALL)
    assert "so it is called small-2" in page
    assert 'placeholder="small-2"' in page
    assert "small-2 was created." in sent(client, SMALL, action="submit")
    page = sent(client, SMALL, action="submit", name="small")
    assert "already exists" in page


def test_arguments_reach_the_script_as_a_shell_reads_them(
    client: Client, on_slurm: Project
) -> None:
    sent(client, SMALL, action="submit", arguments="a 'b c'")
    assert Workload.objects.get().spec.worker.args == "a 'b c'"
    assert "A quote in the arguments has no end." in sent(client, SMALL, arguments="it's")
    assert "Arguments are for the script" in sent(client, SMALL, arguments="a", how="as-workload")
