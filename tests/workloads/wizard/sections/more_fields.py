"""Fields of the wizard that the quickstart does not have, section by section."""

from tests.workloads.wizard.browser import item
from tests.workloads.wizard.sections.field_rows import (
    ME_THERE,
    FieldRow,
    Script,
    lasting,
    replica,
    rows,
    tolerates,
)
from tests.workloads.wizard.sections.kind_fields import PYTORCH

WHOLE_GPUS = "Slurm gives whole GPUs"


START = (
    FieldRow(
        9,
        "Image of this workload",
        replica(image="quay.io/team/other:2"),
        {"image": "quay.io/team/other:2"},
        {"image": "quay.io/team/other:2"},
    ),
    FieldRow(
        9,
        "Working directory",
        replica(workingDir="/tmp"),
        {"workingDir": "/tmp"},
        {"workingDir": "/tmp"},
        {"workingDir": "/tmp"},
        Script("WORK=/tmp"),
    ),
    FieldRow(
        9,
        "Setup commands",
        {"setup": "export SEED=7"},
        {"setup": ["export SEED=7"]},
        "a container starts by its image's own entry point",
        {"setup": ["export SEED=7"]},
        Script("export SEED=7"),
    ),
    FieldRow(
        10,
        "Processes per pod",
        PYTORCH | {"architecture": "workers_and_master", "processesPerPod": "2"},
        {"processesPerPod": 2},
        {"nprocPerNode": "2"},
        {"environment": {"PET_NPROC_PER_NODE": "2"}},
    ),
    FieldRow(
        10,
        "Elastic workers",
        PYTORCH | {"architecture": "workers_only", "minReplicas": "1", "maxReplicas": "3"},
        {"minReplicas": 1, "maxReplicas": 3},
        {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 3}},
        "the ranks of the local engine start and end together",
        "the ranks of a Slurm job start and end together",
    ),
)
SIZE = (
    FieldRow(
        10,
        "CPU cores of this workload",
        replica(compute__cpuCoreRequest="2", compute__cpuCoreLimit="4"),
        {"compute": {"cpuCoreRequest": 2, "cpuCoreLimit": 4}},
        {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "4"}}},
        slurm=Script("--cpus-per-task=4"),
    ),
    FieldRow(
        10,
        "CPU memory of this workload",
        replica(compute__cpuMemoryRequest="200M", compute__cpuMemoryLimit="1G"),
        {"compute": {"cpuMemoryRequest": "200M", "cpuMemoryLimit": "1G"}},
        {"resources": {"requests": {"memory": "200M"}, "limits": {"memory": "1G"}}},
        slurm=Script("--mem-per-cpu="),
    ),
    FieldRow(
        10,
        "GPU devices of this workload",
        replica(compute__gpuDevicesRequest="1", compute__gpuRequestType=""),
        {"compute": {"gpuDevicesRequest": 1, "gpuRequestType": None}},
        {"limits": {"nvidia.com/gpu": "1"}},
        {"gpus": 1},
        Script("--gpus-per-task=1"),
    ),
    FieldRow(
        10,
        "GPU fraction of this workload",
        replica(
            compute__gpuDevicesRequest="1",
            compute__gpuRequestType="portion",
            compute__gpuPortionRequest="0.5",
        ),
        {"compute": {"gpuRequestType": "portion", "gpuPortionRequest": 0.5}},
        {"annotations": {"gpu-fraction": "0.5"}},
        {"gpus": 0.5},
        WHOLE_GPUS,
    ),
    FieldRow(
        10,
        "GPU memory of this workload",
        replica(
            compute__gpuDevicesRequest="1",
            compute__gpuRequestType="memory",
            compute__gpuMemoryRequest="4G",
        ),
        {"compute": {"gpuRequestType": "memory", "gpuMemoryRequest": "4G"}},
        {"annotations": {"gpu-memory": "3815"}},
        slurm=WHOLE_GPUS,
    ),
    FieldRow(
        10,
        "GPU fraction limit of this workload",
        replica(
            compute__gpuDevicesRequest="1",
            compute__gpuRequestType="portion",
            compute__gpuPortionRequest="0.5",
            compute__gpuPortionLimit="0.8",
        ),
        {"compute": {"gpuPortionLimit": 0.8}},
        "nothing on the cluster enforces it",
        slurm=WHOLE_GPUS,
    ),
    FieldRow(
        10,
        "GPU memory limit of this workload",
        replica(
            compute__gpuDevicesRequest="1",
            compute__gpuRequestType="memory",
            compute__gpuMemoryRequest="4G",
            compute__gpuMemoryLimit="5G",
        ),
        {"compute": {"gpuMemoryLimit": "5G"}},
        "nothing on the cluster enforces it",
        slurm=WHOLE_GPUS,
    ),
)
RUNTIME = (
    FieldRow(
        9,
        "Image pull policy",
        replica(imagePullPolicy="Always"),
        {"imagePullPolicy": "Always"},
        {"imagePullPolicy": "Always"},
    ),
    FieldRow(
        9,
        "Image pull secret",
        item("worker-imagePullSecrets", 0, name="regcred"),
        {"imagePullSecrets": [{"name": "regcred"}]},
        {"imagePullSecrets": [{"name": "regcred"}]},
    ),
    FieldRow(
        9,
        "Linux capabilities",
        item("worker-security-capabilities", 0, item="IPC_LOCK"),
        {"security": {"capabilities": ["IPC_LOCK"]}},
        {"capabilities": {"add": ["IPC_LOCK"]}},
        "the local engine cannot add Linux capabilities",
        ME_THERE,
    ),
    FieldRow(
        13,
        "Pods to delete at the end",
        {"cleanPodPolicy": "All"},
        {"cleanPodPolicy": "All"},
        {"cleanPodPolicy": "All"},
    ),
)
WHERE = (
    FieldRow(
        10,
        "+TOLERATION for a time",
        tolerates(0, operator="Exists", effect="NoExecute", seconds="60"),
        {"tolerations": [{"key": "gpu-0", "effect": "NoExecute", "seconds": 60}]},
        {"tolerations": [{"key": "gpu-0", "effect": "NoExecute", "tolerationSeconds": 60}]},
    ),
    FieldRow(
        10,
        "Priority",
        {"priorityClass": "high"},
        {"priorityClass": "high"},
        {"priorityClassName": "high"},
        "workloads start by quota, rank of the project and age here",
        Script("--qos=high"),
    ),
    FieldRow(
        10,
        "Preemptibility",
        {"preemptibility": "non-preemptible"},
        {"preemptibility": "non-preemptible"},
        {"labels": {"kai.scheduler/preemptibility": "non-preemptible"}},
        slurm="on Slurm the QOS and the partition say who is preempted",
    ),
    FieldRow(
        10,
        "Queue",
        {"queue": "team"},
        {"queue": "team"},
        {"labels": {"kueue.x-k8s.io/queue-name": "team"}},
        "there is no Kueue on one machine",
        "there is no Kueue on Slurm",
    ),
    FieldRow(
        10,
        "Network topology",
        {"topology-name": "racks", "topology-required": "rack", "topology-preferred": "zone"},
        {"topology": {"name": "racks", "required": "rack", "preferred": "zone"}},
        {"kai.scheduler/topology": "racks"},
        "one machine has no network topology",
        "Slurm places jobs by its own topology",
    ),
)
GENERAL = (
    FieldRow(
        13,
        "Time limit",
        lasting("timeLimitSeconds", "2", "hours"),
        {"timeLimitSeconds": 7200},
        {},  # Trainyard itself stops it there
        {"timeLimitSeconds": 7200},
        Script("TIME_LIMIT=7200"),
    ),
    FieldRow(
        13,
        "Label of the job",
        rows("jobLabels", 0, {"name": "owner", "value": "ada"}),
        {"jobLabels": [{"name": "owner", "value": "ada"}]},
        {"labels": {"owner": "ada"}},
        "jobs have no labels on one machine",
        "jobs have no labels on Slurm",
    ),
    FieldRow(
        13,
        "Annotation of the job",
        rows("jobAnnotations", 0, {"name": "note", "value": "any text"}),
        {"jobAnnotations": [{"name": "note", "value": "any text"}]},
        {"annotations": {"note": "any text"}},
        "jobs have no annotations on one machine",
        "jobs have no annotations on Slurm",
    ),
)
ROWS = (*START, *SIZE, *RUNTIME, *WHERE, *GENERAL)
