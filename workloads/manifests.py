"""Fits a manifest to the project where it is submitted: leaves out what describes another cluster,
with a note."""

from clusters.withheld import why_withheld
from engines.local_queues import DEFAULT_QUEUE
from projects.models import Project
from spec.imports.manifest.jobs import OPTIONAL_FIELDS, ImportedManifest
from spec.imports.manifest.reading import ManifestFault

NAMESPACE = "metadata.namespace"
NO_QUEUE = (
    "can only be true where a queue starts the job: name the LocalQueue in the label "
    "kueue.x-k8s.io/queue-name, or leave it out"
)


def fit_manifest(job: ImportedManifest, project: Project) -> None:
    """Leave out what the project's cluster does not have, with notes, and add a fault if the job is
    suspended although no queue would start it."""
    cluster = project.cluster
    namespace = cluster.definition.namespace(cluster, project.name)
    if job.namespace and job.namespace != namespace:
        where = f"in {namespace}" if namespace else f"on {cluster.name}"
        text = f"is left out: the project says where it runs, which is {where}"
        job.notes.append(ManifestFault(NAMESPACE, text))
    had_queue = "queue" in job.spec
    for field in OPTIONAL_FIELDS:
        reason = why_withheld(cluster, _probe_of(field)) if field in job.spec else ""
        if reason:
            del job.spec[field]
            job.notes.append(ManifestFault(job.place_of(f"spec.{field}"), _note(reason)))
    if job.suspended_at and not had_queue and not _has_queue(project):
        job.faults.append(ManifestFault(job.suspended_at, NO_QUEUE))


def _probe_of(field: str) -> str:
    """Return the field of the wizard that stands for a field of the spec."""
    return "topology.name" if field == "topology" else field


def _note(reason: str) -> str:
    """Return the note for a refusal, without its advice to leave the field out."""
    return f"is left out: {reason.partition(';')[0]}"


def _has_queue(project: Project) -> bool:
    """Whether a queue starts the project's jobs that name none."""
    queues = project.cluster.definition.local_queues(project.cluster, project.name) or ()
    return bool(project.default_queue) or any(it.name == DEFAULT_QUEUE for it in queues)
