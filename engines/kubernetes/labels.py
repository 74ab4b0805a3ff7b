"""The labels and annotations by which we find our objects, and those that Kubeflow's operators set.

KAI's are in ``manifests/pod/scheduling.py``.
"""

from uuid import UUID

from engines.base import Launch, Manifest
from engines.kubernetes.names import project_namespace

# labels
WORKLOAD = "trainyard.io/workload"
PROJECT = "trainyard.io/project"
INSTALLATION = "trainyard.io/installation"  # label: which Trainyard owns it, if there are several
EPHEMERAL = "trainyard.io/ephemeral"  # label of claims that are removed when the workload stops
QUEUES_OF = "trainyard.io/queues-of"  # label of the queues that one Trainyard made
TOOL = "trainyard.io/tool"  # label of what leads to a tool
FIELD = "trainyard.io/field"  # annotation: path in the spec of what an object is for
RANK = "trainyard.io/rank"  # label of a Job that runs one rank of a gang, and of its pods
USER_LINE = "trainyard.io/passwd"  # annotation: a passwd line, since ssh needs a name for its user
# annotations
RUN = "trainyard.io/run"
NAME = "trainyard.io/name"
SUBMITTED_BY = "trainyard.io/submitted-by"
GAVE_UP = "trainyard.io/gave-up"  # annotation: why we ended the job for good
STOPPED_RUN = "trainyard.io/stopped-run"  # annotation: the run that we suspended
TAKEN_BACK = "trainyard.io/taken-back"  # annotation: how often a gang was taken back, and when
ROLES = "trainyard.io/roles"  # annotation of the job of a gang without an operator: its roles
LEAD_ONLY = (
    "trainyard.io/lead-only"  # annotation: failures of other ranks than the lead are ignored
)
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"  # on the pods of an Indexed Job
JOB_NAME = "training.kubeflow.org/job-name"  # on everything that an operator creates for a job
REPLICA_TYPE = "training.kubeflow.org/replica-type"
REPLICA_INDEX = "training.kubeflow.org/replica-index"
JOB_ROLE = "training.kubeflow.org/job-role"  # on pods of an MPIJob, instead of the replica type


def labels(launch: Launch) -> dict[str, str]:
    return {WORKLOAD: str(launch.handle.workload_id), PROJECT: launch.handle.project}


def annotations(launch: Launch) -> dict[str, str]:
    notes = {RUN: str(launch.run), NAME: launch.handle.name}
    return notes | ({SUBMITTED_BY: launch.submitted_by} if launch.submitted_by else {})


def parse_workload_id(labels: dict[str, str]) -> UUID | None:
    """Return the id of the workload in an object's labels; ``None`` if they have no valid one."""
    try:
        return UUID(labels[WORKLOAD])
    except (KeyError, ValueError):
        return None


def run_number(job: Manifest) -> int:
    text = (job["metadata"].get("annotations") or {}).get(RUN, "")
    return int(text) if text.isdigit() else 1


def is_our_job(prefix: str, job: Manifest, installation: str = "") -> bool:
    """Whether the Trainyard with this prefix created the job. Another one may use the same cluster
    with a similar prefix; it then reads and ends its jobs itself."""
    meta = job["metadata"]
    project = str((meta.get("labels") or {}).get(PROJECT, ""))
    ours = meta.get("namespace") == project_namespace(project, prefix)
    return ours and not is_marked_by_another(job, installation)


def is_marked_by_another(item: Manifest, installation: str) -> bool:
    """Whether the object is marked as another Trainyard's. Unmarked objects date from before there
    were marks, and count as ours."""
    mark = (item["metadata"].get("labels") or {}).get(INSTALLATION, "")
    return bool(mark and installation) and mark != installation


def installation_labels(installation: str) -> dict[str, str]:
    return {INSTALLATION: installation} if installation else {}
