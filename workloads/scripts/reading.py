"""Read a batch script for a cluster: as it stands if the cluster can run batch scripts, else as a
workload that runs the same command."""

from collections.abc import Sequence

from clusters.models import Cluster
from projects.models import Project
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.formats import documents
from spec.imports.directives import Note
from spec.imports.hosts import ScriptHost
from spec.imports.sbatch import ImportedScript, import_script
from spec.parts.scheduling import PriorityClass

NO_POOL = "The cluster has no node pool {0!r}, so the partition is left out."
NO_PRIORITY = "{0!r} is not one of Trainyard's priorities, so the QOS is left out."


def read_script(
    text: str,
    cluster: Cluster | None,
    *,
    as_it_stands: bool | None = None,
    arguments: Sequence[str] = (),
) -> ImportedScript:
    """Read a batch script. Without ``as_it_stands``, the script runs as it stands if the cluster
    can run batch scripts."""
    if as_it_stands is None:
        as_it_stands = bool(cluster and cluster.definition.script_host)
    host = (cluster and cluster.definition.script_host) or ScriptHost.SLURM
    script = import_script(text, unchanged=as_it_stands, host=host, arguments=arguments)
    if not as_it_stands:
        _apply_partition_and_qos(script, cluster)
    return script


def _apply_partition_and_qos(script: ImportedScript, cluster: Cluster | None) -> None:
    """Use the partition as the node pool if the cluster has a pool of that name, and the QOS as
    the priority if Trainyard has a priority of that name. Otherwise add a note."""
    if script.partition and cluster and cluster.pools.filter(name=script.partition).exists():
        script.spec["nodePools"] = [script.partition]
    elif script.partition:
        script.notes.append(Note(script.partition_line, NO_POOL.format(script.partition)))
    if script.qos in set(PriorityClass):
        script.spec["priorityClass"] = script.qos
    elif script.qos:
        script.notes.append(Note(script.qos_line, NO_PRIORITY.format(script.qos)))
    script.notes.sort(key=lambda note: note.line)


def build_draft(script: ImportedScript, name: str, project: Project | None) -> WorkloadDraft:
    """Build a draft from the script, to continue in the wizard or to submit."""
    master = script.master(script.spec)
    document = documents.from_wire(script.spec, no_master=master is None, master=master)
    worker = document.pop("worker")
    master = document.pop("master", None)
    return WorkloadDraft(
        name=name,
        project=project.pk if project else None,
        cluster=project.cluster_id if project else None,
        framework=document.pop("distributedFramework"),
        architecture=document.pop("architecture"),
        worker=ReplicaDraft(values=worker),
        master=None if master is None else ReplicaDraft(values=master),
        values=document,
    )
