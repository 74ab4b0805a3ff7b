"""Launches whose batch scripts are in ``golden/``. ``python -m tests.engines.slurm.cases`` writes
them."""

from pathlib import Path
from uuid import UUID

from engines.base import Handle, Launch, Site
from engines.slurm.script.rank.volumes import PROGRAM
from engines.slurm.script.render import render_files
from engines.slurm.script.site import SlurmSite
from spec.data.storage import S3, Git, HostPath, Storage
from spec.formats import documents
from spec.framework import Framework
from spec.imports.sbatch import import_script
from spec.kind import WorkloadKind
from spec.parts.compute import Compute
from spec.parts.scheduling import PriorityClass
from spec.values.variable import CredentialKey, EnvironmentVariable, NamedCredential
from spec.workload import Replica, WorkloadSpec
from tests.spec import imports

GOLDEN = Path(__file__).parent / "golden"
UID = UUID("00000000-0000-4000-8000-000000000001")
CREDENTIAL = UUID("00000000-0000-4000-8000-000000000002")
SITE = SlurmSite("/shared/trainyard", account="vision", prologue="module load cuda\nulimit -c 0")
POOLS = {"fast": ("slurm.partition/gpu", ""), "old": ("slurm.partition/debug", "")}
HANDLE = Handle(UID, "mnist", "team-a")


def training() -> Launch:
    """Everything that a distributed training can ask for."""
    variables = (
        EnvironmentVariable(name="LEARNING_RATE", value="0.1"),
        EnvironmentVariable(name="GREETING", value="it's $(JOB_NAME) for $5"),
        EnvironmentVariable(
            name="TOKEN", credential=CredentialKey(asset_id=CREDENTIAL, name="hub", key="token")
        ),
    )
    worker = Replica(
        image="some/image",
        command="torchrun train.py --rate '$(LEARNING_RATE)' --name \"a b\"",
        working_dir="/shared/code",
        environment_variables=variables,
        compute=Compute(
            gpu_devices_request=1, cpu_core_request=2, cpu_core_limit=4, cpu_memory_limit="4G"
        ),
        node_type="a100",
    )
    spec = WorkloadSpec(
        distributed_framework=Framework.PYTORCH,
        num_workers=3,
        processes_per_pod=2,
        worker=worker,
        node_pools=("fast", "old"),
        priority_class=PriorityClass.HIGH,
        time_limit_seconds=3600,
        backoff_limit=2,
        setup=("module load cuda", "conda activate train"),
    )
    site = Site(pools=POOLS, priority_classes=("high",))
    secrets = {CREDENTIAL: {"token": "hunter'2$x"}}
    return Launch(HANDLE, 2, spec, submitted_by="ada", site=site, ran=600.0, secrets=secrets)


def pair() -> Launch:
    """A master with a command of its own."""
    worker = Replica(image="some/image", command="python work.py")
    master = worker.model_copy(update={"command": "python lead.py", "create_home_dir": True})
    spec = WorkloadSpec(distributed_framework=Framework.JAX, worker=worker, master=master)
    return Launch(HANDLE, 1, spec)


def single() -> Launch:
    worker = Replica(image="some/image", command="python train.py", args="--epochs 3")
    return Launch(HANDLE, 1, WorkloadSpec(kind=WorkloadKind.TRAINING, worker=worker))


def unlike() -> Launch:
    """A master that requests other resources than the workers, led by TensorFlow's chief."""
    worker = Replica(command="python train.py", compute=Compute(gpu_devices_request=2))
    small = Compute(cpu_core_request=4, cpu_memory_request="2G")
    master = worker.model_copy(update={"compute": small, "node_type": "linux"})
    spec = WorkloadSpec(
        distributed_framework=Framework.TENSORFLOW, num_workers=2, worker=worker, master=master
    )
    return Launch(HANDLE, 1, spec)


def launched() -> Launch:
    """Started by mpirun, with two processes for each worker."""
    compute = Compute(gpu_devices_request=2, cpu_core_request=3)
    worker = Replica(command="mpirun python train.py", compute=compute)
    spec = WorkloadSpec(
        distributed_framework=Framework.MPI, num_workers=2, slots_per_worker=2, worker=worker
    )
    return Launch(HANDLE, 1, spec)


def fetching() -> Launch:
    """A repository with a password, one by SSH with its host's key, and two buckets."""
    credential = {"asset_id": CREDENTIAL, "name": "code"}
    storage = Storage(
        git=(
            Git(
                repository="https://example.com/a.git",
                revision="v1",
                path="/code",
                credential=NamedCredential(**credential),
            ),
            Git(
                repository="git@example.com:b.git",
                branch="main",
                path="/more",
                credential=NamedCredential(**credential),
            ),
        ),
        s3=(
            S3(bucket="sets", path="/data/sets", credential=NamedCredential(**credential)),
            S3(bucket="open", url="http://store.example.com", path="/data/open"),
        ),
    )
    variables = (EnvironmentVariable(name="SETS", value="/data/sets:/data/open/x:/data/sets-2"),)
    worker = Replica(
        command="python /code/train.py --data=/data/sets",
        working_dir="/code/src",
        environment_variables=variables,
        storage=storage,
    )
    values = {"User": "ada", "Password": "hunter'2$x", "ssh": "hunter-key"}
    values |= {
        "AccessKeyId": "AK",
        "SecretKey": "hunter-s3",
        "known_hosts": "example.com ssh-rsa A",
    }
    spec = WorkloadSpec(
        distributed_framework=Framework.PYTORCH, worker=worker, setup=("pip install -e /code",)
    )
    return Launch(HANDLE, 1, spec, secrets={CREDENTIAL: values})


def contained() -> Launch:
    """In an image, which apptainer runs."""
    storage = Storage(host_path=(HostPath(path="/data/sets", mount_path="/data/sets"),))
    worker = Replica(
        image="nvcr.io/nvidia/pytorch:24.10-py3",
        command="torchrun train.py",
        working_dir="/workspace",
        create_home_dir=True,
        compute=Compute(gpu_devices_request=1),
        storage=storage,
    )
    spec = WorkloadSpec(
        distributed_framework=Framework.PYTORCH, worker=worker, setup=("pip install -e .",)
    )
    return Launch(HANDLE, 1, spec, site=Site(containers="apptainer"))


def boxed() -> Launch:
    """In an image, which pyxis runs, with a small master. Its ranks get the addresses of
    all ranks."""
    spec = contained().spec
    master = spec.worker.model_copy(update={"compute": Compute(cpu_core_request=4)})
    update = {"distributed_framework": Framework.TENSORFLOW, "master": master}
    return Launch(HANDLE, 1, spec.model_copy(update=update), site=Site(containers="pyxis"))


def roled() -> Launch:
    """Named roles, the last of which leads and requests other resources, with volumes of each
    kind."""
    files = {"files": [{"name": "entry.sh", "content": "echo $1\n"}], "subPath": "entry.sh"}
    storage = {
        "configMapVolume": [{**files, "mountPath": "/tmp/entry.sh", "defaultMode": "0755"}],
        "secretVolume": [
            {
                "credential": {"assetId": str(CREDENTIAL), "name": "hub", "keys": ["token"]},
                "mountPath": "/keys",
            }
        ],
        "pvc": [{"claimName": "shared", "claimInfo": {"size": "1G"}, "path": "/shared/in"}],
        "emptyDirVolume": [{"path": "/dev/shm", "medium": "Memory", "sizeLimit": "1G"}],
        "hostPath": [{"path": "/data", "mountPath": "/sets", "readOnly": True}],
    }
    worker = {"name": "worker", "count": 2, "command": "/tmp/entry.sh a", "storage": storage}
    small = {"cpuCoreRequest": 4, "cpuMemoryRequest": "2G"}
    head = {"name": "head", "command": "python lead.py", "leads": True, "compute": small}
    spec = documents.load_spec({"roles": [worker, head], "ignoreNonLeadStatus": True})
    return Launch(HANDLE, 1, spec, secrets={CREDENTIAL: {"token": "hunter-file"}})


def script() -> Launch:
    """The tutorial's batch script, filled in, for smaller nodes."""
    text = (Path(imports.__file__).parent / "tutorial.sh").read_text()
    text = text.replace("[PATH_TO_THE_MAIN_FOLDER]", "/shared/cifar10_example")
    text = text.replace("=8", "=2").replace("gpu:8", "gpu:2").replace("=12", "=1")
    text = text.replace("=1792G", "=1G").replace("WORLD_SIZE=24", "WORLD_SIZE=6")
    return as_written(text.replace("[YOUR_CONDA_ENV]", "ddp"))


def as_written(text: str, handle: Handle = HANDLE) -> Launch:
    """A batch script that runs as it stands."""
    script = import_script(text, unchanged=True)
    master = script.master(script.spec)
    document = documents.from_wire(script.spec, no_master=master is None, master=master)
    document["terminationGracePeriodSeconds"] = 2
    return Launch(handle, 1, WorkloadSpec.model_validate(document))


CASES = {
    "training": training,
    "pair": pair,
    "single": single,
    "unlike": unlike,
    "launched": launched,
    "fetching": fetching,
    "contained": contained,
    "boxed": boxed,
    "roled": roled,
    "script": script,
}


def scripts(name: str) -> dict[str, str]:
    """Return the files of a case, by the names of their golden files."""
    by_name = render_files(CASES[name](), SITE)
    by_name.pop(PROGRAM, None)  # a module of ours
    return {f"{name}-{file.replace('/', '-')}": text for file, text in by_name.items()}


if __name__ == "__main__":
    for name in CASES:
        for file, text in scripts(name).items():
            (GOLDEN / file).write_text(text)
