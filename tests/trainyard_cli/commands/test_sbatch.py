"""A batch script from the command line: submitted as it stands, or refused by its lines."""

from pathlib import Path

import pytest

from projects.models import Project
from tests.spec import imports
from tests.trainyard_cli.terminal import Terminal
from workloads.models import Workload

TUTORIAL = Path(imports.__file__).parent / "tutorial.sh"
SCRIPT = "#!/bin/bash\n#SBATCH -J small -n 2\nexport MASTER_PORT=9304\nsrun python train.py\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "test.sh"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def on_slurm(project: Project) -> Project:
    cluster = project.cluster
    cluster.kind = "slurm"
    cluster.settings_json = {"directory": "/shared/trainyard"}
    cluster.capabilities_json = {"frameworks": [{"framework": "PyTorch", "available": True}]}
    cluster.save()
    return project


def test_a_script_is_submitted_to_slurm_as_it_stands(
    terminal: Terminal, on_slurm: Project, script: Path
) -> None:
    done = terminal(f"submit-sbatch {script}")
    assert "Submitted small." in done.out
    assert "line 3: Port 9304 is fixed" in done.err
    assert Workload.objects.get(name="small").spec.batch_script == SCRIPT
    assert terminal(f"submit-sbatch {script} --name b --as-workload -o name").out == "b\n"
    assert Workload.objects.get(name="b").spec.batch_script is None


def test_a_script_on_standard_input_is_tried_elsewhere(terminal: Terminal) -> None:
    done = terminal("submit-sbatch - --dry-run --as-workload", typed=SCRIPT)
    assert "command: python train.py" in done.out
    assert "line 3: Trainyard sets MASTER_PORT itself" in done.err
    assert not Workload.objects.exists()


def test_the_lines_that_have_to_be_changed_first_are_named(terminal: Terminal) -> None:
    done = terminal(f"submit-sbatch {TUTORIAL}", code=1)
    assert "line 13: [PATH_TO_THE_MAIN_FOLDER] has to be replaced by a value" in done.err
    assert "line 23: [YOUR_CONDA_ENV]" in done.err
    assert "cannot be read" in terminal("submit-sbatch nothing.sh", code=2).err


def test_an_image_that_is_not_used_is_said(terminal: Terminal, on_slurm: Project) -> None:
    line = "a --workers 1 -i some/image --no-master --command -- python train.py"
    for option in ("--dry-run", ""):
        said = terminal(f"training pytorch submit {option} {line}").err
        assert "--image: is not used: the cluster has neither pyxis nor apptainer" in said


IMAGE = "kubeflow/pytorch-dist-mnist:latest"


@pytest.mark.parametrize(
    ("line", "flag"),
    [
        (f"submit-dist pytorch a --workers=2 -g 0.1 -i {IMAGE}", "--gpu-devices-request:"),
        (
            f"distributed submit a --framework PyTorch -i {IMAGE} --workers 2 "
            "--gpu-request-type portion --gpu-portion-request 0.1 --gpu-devices-request 1 "
            "--cpu-memory-request 100M",
            "--gpu-request-type:",
        ),
    ],
)
@pytest.mark.parametrize("option", ["", " --dry-run"])
@pytest.mark.usefixtures("on_slurm")
def test_lines_for_kubernetes_are_refused_by_what_was_typed(
    terminal: Terminal, line: str, flag: str, option: str
) -> None:
    refused = terminal(f"{line}{option}", code=1).err
    assert f"{flag} Slurm gives whole GPUs" in refused
    assert f"Slurm does not know what the image {IMAGE} starts" in refused


def test_arguments_of_the_script_follow_its_name(
    terminal: Terminal, on_slurm: Project, script: Path
) -> None:
    terminal(f"submit-sbatch {script} --name a 1 'two words'")
    assert Workload.objects.get(name="a").spec.worker.args == "1 'two words'"
    terminal(f"submit-sbatch {script} --name b -- --epochs 3 --name c")
    assert Workload.objects.get(name="b").spec.worker.args == "--epochs 3 --name c"


def test_a_script_without_a_name_is_called_as_its_file(
    terminal: Terminal, on_slurm: Project, tmp_path: Path
) -> None:
    script = tmp_path / "7B_run.sbatch"
    script.write_text("#!/bin/bash\ntrue\n")
    for name in ("run-7b", "run-7b-2"):
        done = terminal(f"submit-sbatch {script}")
        assert f"Submitted {name}." in done.out
        assert "so the workload is called run-7b." in done.err
    done = terminal("submit-sbatch -", typed="#!/bin/bash\ntrue\n")
    assert "Submitted script." in done.out


def test_bytes_that_are_not_utf_8_are_named_by_their_line(
    terminal: Terminal, tmp_path: Path
) -> None:
    script = tmp_path / "a.sh"
    script.write_bytes("#!/bin/bash\n\n# Müller\n".encode("latin-1"))
    said = terminal(f"submit-sbatch {script}", code=2).err
    assert "line 3 has bytes that are not UTF-8; save it as UTF-8" in said


def test_the_elements_of_an_array_are_named(terminal: Terminal) -> None:
    text = "#!/bin/bash\n#SBATCH -J sweep -n 1 --array=0-2\nsrun hostname\n"
    assert (
        "Submitted 3 workloads: sweep-0 to sweep-2." in terminal("submit-sbatch -", typed=text).out
    )
    named = terminal("submit-sbatch - --name other -o name", typed=text)
    assert named.out.split() == ["other-0", "other-1", "other-2"]
