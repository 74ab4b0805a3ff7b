"""Make versions of datasets of what the tasks of a group leave behind.

It is safe to run twice: the ID of a version is derived from the start of its group, so a process
that repeats the work, after a kill or next to another one, makes the same version.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from uuid import UUID, uuid5

from django.conf import settings
from django.core.exceptions import PermissionDenied

from accounts.models import User
from assets.data_source.datasets.content import local_files
from assets.data_source.datasets.store import files_below
from assets.data_source.datasets.uses import find_version, is_dataset
from assets.datasets import services as datasets
from assets.datasets.services import VersionComplete
from assets.models import DataSource
from core.broker.enqueue import PERIODIC, allow_next, send_once
from core.broker.lease import hold_lease
from core.storage import DiskFull
from projects.scopes import OwningScope
from spec.problems.errors import SpecError
from workflows.claims import output_claim
from workflows.graph import DatasetOutput, WorkflowTask
from workflows.models import GroupRun, Keeping
from workflows.starting import dataset_outputs, replace_workflow_id
from workflows.statuses import Status

KEEP = "workflows.keep_outputs"
LEASE_SECONDS = 60.0
NO_MAKER = "the person who submitted the workflow no longer exists"


class LeaseLost(Exception):
    """Another process may keep the output now."""


def is_done(group: GroupRun) -> bool:
    """Whether every dataset has got what the tasks of a group left behind."""
    return group.keeping == Keeping.KEPT or not any(dataset_outputs(group.definition))


def ask(group: GroupRun) -> None:
    """Have the worker keep the output of a group that is complete but for that. It takes as long as
    the files are large, so it is a task of its own."""
    GroupRun.objects.filter(pk=group.pk, keeping=Keeping.NOT_YET).update(keeping=Keeping.ASKED)
    if group.status != Status.RUNNING:
        group.move(Status.RUNNING)
    send_once(KEEP, group.workflow_id, PERIODIC)


def keep_outputs(workflow_id: UUID) -> None:
    """Keep the output of the groups of a workflow that wait for it, unless another process does. A
    group whose output cannot be kept fails."""
    allow_next(KEEP, workflow_id)
    with hold_lease(f"keep:{workflow_id}", seconds=LEASE_SECONDS) as extend:
        if extend is None:
            return

        def extend_lease() -> None:
            if not extend():
                raise LeaseLost

        waiting = GroupRun.objects.filter(workflow=workflow_id, keeping=Keeping.ASKED)
        for group in waiting.select_related("workflow__project__cluster", "workflow__created_by"):
            if not group.is_finished:
                _keep_group(group, extend_lease)


def _keep_group(group: GroupRun, extend_lease: Callable[[], None]) -> None:
    try:
        for task, output in dataset_outputs(group.definition):
            _keep_output(group, task, output, extend_lease)
    except (LeaseLost, VersionComplete):
        return  # another process keeps it
    except (DiskFull, OSError, PermissionDenied, SpecError) as error:
        group.move(Status.FAILED, failure=f"Its output could not be kept: {error}")
        return
    GroupRun.objects.filter(pk=group.pk).update(keeping=Keeping.KEPT)


def _keep_output(
    group: GroupRun, task: WorkflowTask, output: DatasetOutput, extend_lease: Callable[[], None]
) -> None:
    """Make a version. An output without files makes none, as in OSMO."""
    workflow = group.workflow
    project = workflow.project
    claim = output_claim(workflow.label, task.name)
    cluster = project.cluster
    folder = cluster.definition.claim_folder(cluster, project.name, claim)
    files = dict(_chosen_files(folder, output)) if folder else {}
    if not files:
        return
    if workflow.created_by is None:
        raise PermissionDenied(NO_MAKER)
    name = replace_workflow_id(output.name, workflow.label)
    dataset = _dataset_to_write(name, group, workflow.created_by)
    last = find_version(dataset) if output.updates else None
    try:
        version = datasets.begin_version(
            dataset,
            by=workflow.created_by,
            pk=uuid5(group.draft_id_of(group.retries), f"{task.name}/{output.name}"),
            workflow_id=workflow.pk,
            maker=f"{workflow.label} {task.name}",
        )
    except VersionComplete:
        return  # an earlier try got so far
    with TemporaryDirectory(dir=settings.HOME) as scratch:
        earlier = local_files(last, Path(scratch)) if last else {}
        datasets.keep_files(
            version, {**earlier, **files}, by=workflow.created_by, between=extend_lease
        )


def _dataset_to_write(name: str, group: GroupRun, by: User) -> DataSource:
    """Return the project's dataset with this name, which is created if there is none."""
    scope = OwningScope(group.workflow.project)
    source = DataSource.objects.named(name, scope).first()
    if source is None:
        return datasets.create_dataset(name, scope=scope, by=by)
    if not is_dataset(source):
        raise PermissionDenied(f"{name} is a data source, and no dataset")
    return source


def _chosen_files(folder: Path, output: DatasetOutput) -> Iterator[tuple[str, Path]]:
    """Yield the files of an output that a dataset gets: their paths in it, and where they are. What
    is in a chosen folder begins with the name of that folder, as in OSMO."""
    pattern = re.compile(output.regex)
    for chosen in output.paths or ("",):
        root = folder / chosen
        if not root.resolve().is_relative_to(folder.resolve()):
            continue  # a link that leads out of the output
        above = PurePosixPath(chosen).parent
        found = files_below(root) if root.is_dir() else [""] if root.is_file() else []
        for path in found:
            target = str((PurePosixPath(chosen) / path).relative_to(above))
            if pattern.match(target):
                yield target, root / path if path else root
