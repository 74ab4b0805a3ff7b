"""The image of a workload is used where the cluster has pyxis or apptainer, else that is said.

The testbed has neither: stand-ins take what they would be given, say in which image a program is,
and run it on the node.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from engines.base import Launch, Site
from engines.findings import Level
from engines.slurm.client import files
from engines.slurm.cluster.discovery import find_container_program
from engines.slurm.cluster.trial import container_finding
from engines.slurm.engine import SlurmEngine
from engines.slurm.script import render
from engines.slurm.script.rank.containers import complaints, container_program, unused_images
from engines.slurm.script.site import SlurmSite
from spec.data.storage import HostPath, Storage
from spec.phases import Phase
from tests.engines.reading import printed
from tests.engines.slurm import cases
from tests.engines.slurm.rig import SlurmRig
from tests.engines.terminal import opened, until_end

IMAGE = "registry.example.com/team/train:1"
APPTAINER = """#!/bin/sh
# A stand-in for apptainer: what is asked of it, on the node itself.
[ "$1" = exec ] && shift || { echo "apptainer version 1.3 (stand-in)"; exit; }
binds=
while :; do
  case $1 in
    --nv) shift ;;
    --bind) [ -d "${2%%:*}" ] || exit 255; binds="$binds $2"; shift 2 ;;
    --home) shift 2 ;;
    --pwd) place=$2; shift 2 ;;
    *) break ;;
  esac
done
export APPTAINER_CONTAINER=$1 BINDS="$binds" PLACE="$place"
shift
exec "$@"
"""
SRUN = """#!/bin/bash
# A stand-in for pyxis: takes its options from srun, and tells a program which image it is in.
[ "$1" != --help ] || { echo "      --container-image=[USER@][REGISTRY#]IMAGE[:TAG]|PATH"; exit; }
words=()
for word; do
  case $word in
    --container-image=*) export ENROOT_IMAGE=${word#*=} ;;
    --container-mounts=*) export ENROOT_MOUNTS=${word#*=} ;;
    --no-container-*) ;;
    *) words+=("$word") ;;
  esac
done
exec /usr/bin/srun "${words[@]}"
"""


def in_image(launched: Launch, image: str = IMAGE, host: str = "", **fields: object) -> Launch:
    storage = Storage(host_path=(HostPath(path=host, mount_path=host),)) if host else Storage()
    update = {"image": image, "storage": storage, **fields}
    spec = launched.spec
    worker = spec.worker.model_copy(update=update)
    master = spec.master.model_copy(update=update) if spec.master else None
    return replace(launched, spec=spec.model_copy(update={"worker": worker, "master": master}))


@contextmanager
def program(rig: SlurmRig, name: str, text: str) -> Iterator[str]:
    """A folder on the shared directory with that program."""
    folder = f"{rig.site.directory}/bin"
    making = 'mkdir -p "$1" && cat > "$1/$2" && chmod 755 "$1/$2"'
    files.output_of(
        files.run_program(rig.transport, making, folder, name, stdin=text.encode()), folder
    )
    yield folder


@pytest.mark.parametrize(
    ("image", "apptainer", "pyxis"),
    [
        ("python:3.11", "docker://python:3.11", "python:3.11"),
        ("kubeflow/mnist", "docker://kubeflow/mnist", "kubeflow/mnist"),
        (
            "nvcr.io/nvidia/pytorch:1",
            "docker://nvcr.io/nvidia/pytorch:1",
            "nvcr.io#nvidia/pytorch:1",
        ),
        ("localhost:5000/a", "docker://localhost:5000/a", "localhost:5000#a"),
        ("docker.io/library/python", "docker://docker.io/library/python", "library/python"),
        ("file:///images/train.sif", "/images/train.sif", "/images/train.sif"),
        ("oras://ghcr.io/a/b", "oras://ghcr.io/a/b", "oras://ghcr.io/a/b"),
    ],
)
def test_an_image_is_named_as_each_program_names_it(image: str, apptainer: str, pyxis: str) -> None:
    texts = [
        "".join(
            render.render_files(replace(in_image(it, image), site=it.site), cases.SITE).values()
        )
        for it in (cases.contained(), cases.boxed())
    ]
    assert f' --pwd "$WORK" {apptainer})' in texts[0]
    assert f"--container-image={pyxis}" in texts[1].replace("'", "")


@pytest.mark.parametrize(
    ("launched", "chosen", "found", "used"),
    [
        (cases.single(), "", "", ""),
        (cases.single(), "", "pyxis", "pyxis"),
        (cases.single(), "apptainer", "pyxis", "apptainer"),
        (cases.single(), "none", "pyxis", ""),
        (in_image(cases.launched()), "", "pyxis", ""),
    ],
    ids=str,
)
def test_an_image_that_is_not_used_is_said_with_the_reason(
    launched: Launch, chosen: str, found: str, used: str
) -> None:
    site = replace(cases.SITE, containers=chosen)
    launched = replace(launched, site=Site(containers=found))
    assert container_program(launched, site) == used
    said = [(it.field, it.message) for it in unused_images(launched, site)]
    assert [field for field, _ in said] == ([] if used else ["worker.image"])
    assert all("ranks run the programs of the nodes" in message for _, message in said)


def test_batch_scripts_and_plain_commands_have_no_image() -> None:
    assert list(unused_images(cases.script(), cases.SITE)) == []
    assert list(unused_images(cases.unlike(), cases.SITE)) == []


def test_pyxis_has_one_image_for_all_ranks() -> None:
    launched = replace(cases.pair(), site=Site(containers="pyxis"))
    assert list(complaints(launched, cases.SITE)) == []
    spec = launched.spec
    assert spec.master
    other = spec.master.model_copy(update={"image": "other/image"})
    launched = replace(launched, spec=spec.model_copy(update={"master": other}))
    assert [place for place, _ in complaints(launched, cases.SITE)] == ["master.image"]
    launched = replace(launched, site=Site(containers="apptainer"))
    assert list(complaints(launched, cases.SITE)) == []


@pytest.mark.parametrize(
    ("wanted", "there", "level", "says"),
    [
        ("", [], Level.OK, "not used"),
        ("pyxis", ["pyxis"], Level.OK, "pyxis on n1 starts"),
        ("apptainer", ["pyxis", "apptainer version 1.3"], Level.OK, "apptainer version 1.3 on n1"),
        ("apptainer", [], Level.ISSUE, "not found on n1"),
        ("", ["apptainer version 1.3"], Level.WARNING, "not on the login node"),
        ("none", ["pyxis"], Level.OK, "Turned off"),
    ],
)
def test_the_connection_test_tells_what_starts_images(
    wanted: str, there: list[str], level: Level, says: str
) -> None:
    found = container_finding(wanted, there, "n1")
    assert (found.level, says in found.text) == (level, True)


@pytest.mark.slurm
def test_ranks_setup_and_terminal_are_in_the_image_by_apptainer(rig: SlurmRig) -> None:
    with program(rig, "apptainer", APPTAINER) as folder:
        assert find_container_program(rig.transport) == ""
        site = replace(rig.site, containers="apptainer", prologue=f'PATH="{folder}:$PATH"')
        rig.engine = SlurmEngine(rig.transport, site, interval=0.5)
        script = 'echo "$APPTAINER_CONTAINER $WORD $PLACE"; echo "$BINDS"; exec sleep 600'
        setup = ('export WORD="$APPTAINER_CONTAINER"',)
        launched = in_image(
            rig.shell(script, setup=setup), host=folder, working_dir="/workspace/only/there"
        )
        rig.submit(launched)
        lines = printed(rig.engine, launched, 1, until=b":ro\n").decode().splitlines()
        image = f"docker://{IMAGE}"
        assert lines[0] == f"{image} {image} /workspace/only/there"
        assert lines[1].split() == [
            f"{rig.site.directory}:{rig.site.directory}",
            f"{folder}:{folder}:ro",
        ]
        with opened(rig, launched, 'echo "at $APPTAINER_CONTAINER"', rank=1) as session:
            assert f"at {image}".encode() in until_end(session)
        rig.engine.stop(launched.handle, run=1)
        assert rig.over(launched).phase is Phase.STOPPED


@pytest.mark.slurm
def test_ranks_and_terminal_are_in_the_image_by_pyxis(rig: SlurmRig) -> None:
    with program(rig, "srun", SRUN) as folder:
        own = replace(rig.testbed.programs, folder=folder)
        transport = replace(rig.transport, programs=own)
        found = find_container_program(transport)
        assert found == "pyxis"
        site = SlurmSite(rig.site.directory, prologue="exit 7")  # of the nodes, not of the image
        rig.engine = SlurmEngine(transport, site, interval=0.5)
        launched = in_image(rig.shell('echo "$ENROOT_IMAGE $ENROOT_MOUNTS"; exec sleep 600'))
        rig.submit(replace(launched, site=Site(containers=found)))
        image = "registry.example.com#team/train:1"
        mounts = f"{rig.site.directory}:"
        for rank in (0, 1):
            said = printed(rig.engine, launched, rank, until=b"\n").decode()
            assert said.startswith(f"{image} {mounts}")
        with opened(rig, launched, 'echo "at $ENROOT_IMAGE"', rank=1) as session:
            assert f"at {image}".encode() in until_end(session)
