"""A batch script of Slurm runs where there is none: what its srun starts becomes the ranks."""

import shlex
import sys
from pathlib import Path
from uuid import uuid4

from engines.base import Handle, Launch
from spec.formats.documents import from_wire, load_spec
from spec.imports.sbatch import import_script
from spec.phases import Phase
from tests.engines.local.conftest import LocalRig
from tests.spec import imports

TUTORIAL = (Path(imports.__file__).parent / "tutorial.sh").read_text()
PRINTS = "import os; print(os.environ['RANK'], os.environ['WORLD_SIZE'], os.environ['CONDA'])"
FILLED = {
    "[PATH_TO_THE_MAIN_FOLDER]": "/tmp",
    "[YOUR_CONDA_ENV]": "ddp",
    "--nodes=3": "--nodes=2",
    "--ntasks-per-node=8": "--ntasks-per-node=1",
    "gpu:8": "gpu:1",
    "=12": "=1",
    "1792G": "1G",
    "source /opt/conda/etc/profile.d/conda.sh": 'conda() { export CONDA="$2"; }',
    "source ~/.bashrc": "true",
    'master_addr=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)': "",
    "python train_ddp_test_CIFAR10.py": f"{sys.executable} -c {shlex.quote(PRINTS)}",
}


def test_the_tutorials_script_runs_on_this_machine(rig: LocalRig) -> None:
    text = TUTORIAL
    for old, new in FILLED.items():
        text = text.replace(old, new)
    script = import_script(text)
    assert not any(note.blocks for note in script.notes)
    document = from_wire(script.spec | {"backoffLimit": 0}, no_master=True, master=None)
    spec = load_spec(document)
    launched = rig.submit(Launch(Handle(uuid4(), script.name, "team-a"), 1, spec))
    assert rig.over(launched).phase is Phase.COMPLETED
    assert [rig.log(launched, rank) for rank in (0, 1)] == ["0 2 ddp\n", "1 2 ddp\n"]
