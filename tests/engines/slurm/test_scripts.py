"""A launch becomes the scripts that are kept as golden files, which Slurm and bash accept."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from engines.slurm.script.rank.words import quote_line, quote_word
from engines.slurm.script.render import ENVIRONMENT, manifests, render_files
from tests.engines.references import VARIABLES, expanded_values
from tests.engines.slurm import cases
from tests.engines.slurm.rig import SlurmRig

names = pytest.mark.parametrize("name", cases.CASES)


@names
def test_scripts_are_as_they_were(name: str) -> None:
    for file, text in cases.scripts(name).items():
        assert text == (cases.GOLDEN / file).read_text(), (
            f"{file}; see tests/engines/slurm/cases.py"
        )


@names
def test_bash_can_read_the_scripts(name: str) -> None:
    for text in cases.scripts(name).values():
        done = subprocess.run(["/bin/bash", "-n"], input=text, text=True, capture_output=True)
        assert (done.returncode, done.stderr) == (0, "")


@names
@pytest.mark.slurm
def test_slurm_accepts_the_scripts(rig: SlurmRig, name: str) -> None:
    script = render_files(cases.CASES[name](), cases.SITE)["batch.sh"].encode()
    answer = rig.transport.run(["sbatch", "--test-only", "--chdir=/tmp"], stdin=script)
    assert answer.code == 0, answer.err
    assert "to start at" in answer.err


def test_secrets_are_in_one_file_alone_and_in_no_preview() -> None:
    launch = cases.training()
    by_name = render_files(launch, cases.SITE)
    assert [name for name, text in by_name.items() if "hunter" in text] == [ENVIRONMENT]
    assert "hunter" not in str(list(manifests(launch, cases.SITE)))


def test_the_environment_reads_as_it_was_meant() -> None:
    text = render_files(cases.training(), cases.SITE)[ENVIRONMENT]
    show = 'echo "$TOKEN|$GREETING|$CHECKPOINT_DIR|$PET_NNODES"'
    done = subprocess.run(
        ["/bin/bash", "-c", f"RANK=0\n{text}\n{show}"], capture_output=True, text=True, env={}
    )
    checkpoints = f"/shared/trainyard/workloads/{cases.UID.hex}/checkpoints"
    assert done.stdout.strip() == f"hunter'2$x|it's mnist for $5|{checkpoints}|4"


def test_values_refer_to_earlier_variables_as_on_kubernetes() -> None:
    training = cases.training()
    worker = training.spec.worker.model_copy(update={"environment_variables": VARIABLES})
    spec = training.spec.model_copy(update={"worker": worker})
    text = render_files(replace(training, spec=spec), cases.SITE)[ENVIRONMENT]
    show = f"{sys.executable} -c 'import json, os; print(json.dumps(dict(os.environ)))'"
    script = f"RANK=0 MASTER_ADDR=node-1\n{text}\n{show}"
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, text=True, env={})
    seen = json.loads(done.stdout)
    expected = expanded_values("mnist")
    assert {name: seen[name] for name in expected} == expected


def test_variables_of_commands_are_read_as_kubernetes_reads_them() -> None:
    assert quote_word("a$(RANK)b", {"RANK"}) == 'a"$RANK"b'
    assert quote_word("$(OTHER) $HOME", {"RANK"}) == "'$(OTHER) $HOME'"
    assert quote_word("$$(RANK)", {"RANK"}) == "'$(RANK)'"
    assert quote_word("") == "''"
    assert quote_line("sh -c 'echo $(RANK); ls'", {"RANK"}) == "sh -c 'echo '\"$RANK\"'; ls'"
