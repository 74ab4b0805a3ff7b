"""Names that come from scripts are made valid and free; typed names are kept."""

from collections.abc import Sequence
from functools import partial

import pytest
from django.db import IntegrityError

from accounts.models import User
from projects.models import Project
from spec.imports.hosts import ScriptHost
from spec.imports.sbatch import import_script
from spec.problems.errors import SpecError
from tests.factories import WorkloadFactory
from workloads.models import Source, Workload
from workloads.scripts import naming
from workloads.scripts.naming import ScriptName, choose_name, submit_named
from workloads.scripts.reading import build_draft

pytestmark = pytest.mark.django_db


def script(name: str = "") -> str:
    option = f"#SBATCH -J '{name}'\n" if name else ""
    return f"#!/bin/bash\n# comment\n{option}srun -K true\n"


def chosen(name: str, **how: object) -> ScriptName:
    return choose_name(import_script(script(name)), **how)  # type: ignore[arg-type]


def test_a_changed_name_has_a_note_at_its_line() -> None:
    found = chosen("7B_run")
    assert found.name == "run-7b"
    assert [(note.line, note.text) for note in found.notes] == [
        (3, "The job's name 7B_run becomes run-7b.")
    ]
    assert chosen("fine") == ScriptName("fine")


@pytest.mark.parametrize(
    ("file_name", "name"), [("train 7b.sbatch", "train-7b"), ("訓練.sh", "script"), ("", "script")]
)
def test_without_a_usable_name_the_file_gives_it(file_name: str, name: str) -> None:
    for job_name, line in (("", 1), ("訓練", 3)):
        found = chosen(job_name, file_name=file_name)
        assert found.name == name
        (note,) = found.notes
        assert note.line == line
        assert note.text.endswith(f"so the workload is called {name}.")


def test_a_taken_name_gets_the_next_number(project: Project) -> None:
    for taken in ("train", "train-2", "train-4"):
        WorkloadFactory(project=project, name=taken)
    found = chosen("train", project=project)
    assert found.name == "train-3"
    assert "already exists" in found.notes[0].text
    Workload.objects.filter(name="train").update(deleted_at="2026-01-01T00:00Z")
    assert chosen("train", project=project).name == "train"


def test_a_typed_name_is_never_changed(project: Project) -> None:
    WorkloadFactory(project=project, name="mine")
    assert chosen("train", typed="mine", project=project) == ScriptName("mine", is_typed=True)


def test_a_name_that_is_lost_in_a_race_is_chosen_again(
    project: Project, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    WorkloadFactory(project=project, name="train")
    free_name = naming._free_name
    looked: list[str] = []

    def late(name: str, ends: Sequence[str], in_project: Project, longest: int) -> str:
        """Look as if the other submission had come only after the first look."""
        looked.append(name)
        return name if len(looked) == 1 else free_name(name, ends, in_project, longest)

    monkeypatch.setattr(naming, "_free_name", late)
    read = import_script(script("train"))
    submit = partial(
        submit_named,
        read,
        lambda element, name: build_draft(element, name, project),
        by=member,
        source=Source.FORM,
    )
    (workload,), name = submit(choose=lambda: choose_name(read, project=project))
    assert (workload.name, name.name, len(looked)) == ("train-2", "train-2", 2)
    with pytest.raises((SpecError, IntegrityError)):
        submit(choose=lambda: choose_name(read, typed="train", project=project))


def test_the_elements_of_an_array_are_workloads_of_their_own(
    project: Project, member: User
) -> None:
    WorkloadFactory(project=project, name="sweep-4")
    text = "#!/bin/bash\n#SBATCH -J sweep -n 1 --array=0-4:2%2\nsrun hostname\n"
    read = import_script(text, unchanged=True, host=ScriptHost.MACHINE)
    workloads, name = submit_named(
        read,
        lambda element, name: build_draft(element, name, project),
        lambda: choose_name(read, project=project),
        by=member,
        source=Source.FORM,
    )
    assert [workload.name for workload in workloads] == ["sweep-2-0", "sweep-2-2", "sweep-2-4"]
    texts = [note.text for note in name.notes]
    assert "Each of the 3 elements is a workload of its own, sweep-2-0 to sweep-2-4." in texts
    assert "At most 2 of them wait for room or run at once." in texts
    limits = {(it.array_number, it.array_limit) for it in workloads}
    assert [limit for _, limit in limits] == [2]
    indexes = []
    for workload in workloads:
        values = {it.name: it.value for it in workload.spec.worker.environment_variables}
        indexes.append((values["SLURM_ARRAY_TASK_ID"], values["SLURM_ARRAY_TASK_COUNT"]))
    assert indexes == [("0", "3"), ("2", "3"), ("4", "3")]


def test_a_problem_of_an_array_is_said_once(project: Project, member: User) -> None:
    text = "#!/bin/bash\n#SBATCH -J sweep -n 1 -D /nowhere --array=0-4\nsrun hostname\n"
    read = import_script(text, unchanged=True, host=ScriptHost.MACHINE)
    with pytest.raises(SpecError) as refusal:
        submit_named(
            read,
            lambda element, name: build_draft(element, name, project),
            lambda: choose_name(read, project=project),
            by=member,
            source=Source.FORM,
        )
    assert len(refusal.value.problems) == 1
    assert not Workload.objects.exists()
