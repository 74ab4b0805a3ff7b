"""What must hold between the parts of a workflow file: names, leaders, resources, files, and the
order of its groups."""

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath

from spec.problems.errors import Path, Problem
from workflows.claims import OUTPUT_FOLDER
from workflows.graph import ExitAction
from workflows.imports.osmo import (
    DEFAULT_RESOURCE,
    OsmoFile,
    OsmoUpdate,
    OsmoWorkflow,
    PlacedGroup,
    PlacedTask,
    comparable_name,
)
from workflows.imports.tokens import OUTPUT_TOKEN

OWN_FOLDER = "/osmo"
RESERVED_NAME = "osmo-ctrl"
MOST_TASKS = 500
INPUT_KINDS = ("task", "url", "dataset")
OUTPUT_KINDS = ("url", "dataset", "update_dataset")
WORKFLOW_ID = "{{workflow_id}}"
DATASET_NAME = re.compile(r"[A-Za-z0-9_-]{1,63}")
VERSION_NUMBER = re.compile(r"latest|[1-9][0-9]{0,8}")
UPLOAD_FIRST = "cannot be uploaded with the workflow; upload it first: trainyard dataset upload"


def check_workflow(workflow: OsmoWorkflow) -> Iterator[Problem]:
    """Yield everything that is wrong between the parts of a workflow."""
    if workflow.tasks and workflow.groups:
        yield Problem(("workflow", "tasks"), "give either tasks or groups, not both")
        return
    if not (workflow.tasks or workflow.groups):
        yield Problem(("workflow", "groups"), "is required, or tasks")
        return
    groups = list(workflow.placed_groups())
    number_of_tasks = sum(len(group.tasks) for group in groups)
    if number_of_tasks > MOST_TASKS:
        yield Problem(("workflow",), f"has {number_of_tasks} tasks; at most {MOST_TASKS} can run")
        return
    yield from _check_names(groups)
    for group in groups:
        yield from _check_leaders(group)
        for placed in group.tasks:
            yield from _check_resource(placed, workflow)
            yield from _check_files(placed)
            yield from _check_data(placed)
            yield from _check_datasets(placed)
            yield from _check_mounts(placed)
            yield from _check_exit_actions(placed)
    yield from _check_order(groups)


def group_of_tasks(groups: list[PlacedGroup]) -> dict[str, str]:
    """Return the name of the group of each task, by the name of the task."""
    return {placed.task.name: group.group.name for group in groups for placed in group.tasks}


def upstream_groups(group: PlacedGroup, group_by_task: Mapping[str, str]) -> tuple[str, ...]:
    """Return the groups whose output a group reads, each once."""
    tasks = [read.task for placed in group.tasks for read in placed.task.inputs if read.task]
    names = [group_by_task[task] for task in tasks if task in group_by_task]
    return tuple(dict.fromkeys(name for name in names if name != group.group.name))


def _check_names(groups: list[PlacedGroup]) -> Iterator[Problem]:
    first_names: dict[str, str] = {}
    named = [(group.group.name, group.path) for group in groups if group.path[1] == "groups"]
    named += [(placed.task.name, placed.path) for group in groups for placed in group.tasks]
    for name, path in named:
        comparable = comparable_name(name)
        if comparable == RESERVED_NAME:
            yield Problem((*path, "name"), f"{name} is reserved; choose another name")
        if comparable in first_names:
            first = first_names[comparable]
            same = "is given twice" if first == name else f"is the same name as {first}"
            rule = "groups and tasks share their names, case does not count, and _ is the same as -"
            yield Problem((*path, "name"), f"{name} {same}: {rule}")
        first_names.setdefault(comparable, name)


def _check_leaders(group: PlacedGroup) -> Iterator[Problem]:
    leaders = [placed for placed in group.tasks if placed.task.lead]
    if len(group.tasks) > 1 and not leaders:
        message = "one of several tasks must lead the group; give it lead: true"
        yield Problem((*group.path, "tasks"), message)
    for placed in leaders[1:]:
        first = leaders[0].task.name
        yield Problem((*placed.path, "lead"), f"only one task may lead; {first} does already")


def _check_resource(placed: PlacedTask, workflow: OsmoWorkflow) -> Iterator[Problem]:
    name = placed.task.resource
    if name in workflow.resources or (not workflow.resources and name == DEFAULT_RESOURCE):
        return
    known = ", ".join(workflow.resources) or DEFAULT_RESOURCE
    if name == DEFAULT_RESOURCE:
        message = f"resources has no default; add it, or name one of {known}"
    else:
        message = f"resources has no {name}; name one of {known}"
    yield Problem((*placed.path, "resource"), message)


def _check_files(placed: PlacedTask) -> Iterator[Problem]:
    seen: set[str] = set()
    for number, file in enumerate(placed.task.files):
        path = (*placed.path, "files", number)
        if (file.contents is None) == (file.localpath is None):
            yield Problem(path, "give either contents or localpath")
        if file.base64 and file.localpath is not None:
            yield Problem((*path, "base64"), "is for contents; leave it out")
        yield from _check_place(file, (*path, "path"))
        if file.path in seen:
            yield Problem((*path, "path"), f"{file.path} is given twice")
        seen.add(file.path)
        if file.localpath is not None and _leads_outside(file.localpath):
            message = f"{file.localpath!r} must be a file in the folder of the workflow file"
            yield Problem((*path, "localpath"), message)


def _check_place(file: OsmoFile, path: Path) -> Iterator[Problem]:
    """Check where a task finds a file."""
    place = file.path.replace(OUTPUT_TOKEN, OUTPUT_FOLDER)
    parts = PurePosixPath(place).parts
    if len(parts) < 2 or parts[0] != "/" or ".." in parts or place.endswith("/"):
        yield Problem(path, f"{file.path!r} is not the path of a file; write one like /tmp/run.sh")
    elif f"{place}/".startswith(f"{OWN_FOLDER}/") and not place.startswith(f"{OUTPUT_FOLDER}/"):
        yield Problem(path, f"{OWN_FOLDER} is kept for data; choose another folder")


def _leads_outside(localpath: str) -> bool:
    parts = PurePosixPath(localpath).parts
    return not parts or parts[0] == "/" or ".." in parts


def _check_data(placed: PlacedTask) -> Iterator[Problem]:
    """Check that each input and each output is exactly one kind of thing."""
    for key, items, kinds in (
        ("inputs", placed.task.inputs, INPUT_KINDS),
        ("outputs", placed.task.outputs, OUTPUT_KINDS),
    ):
        for number, item in enumerate(items):
            given = [kind for kind in kinds if getattr(item, kind) is not None]
            if len(given) != 1:
                message = f"give exactly one of {', '.join(kinds)}"
                yield Problem((*placed.path, key, number), message)


def _check_datasets(placed: PlacedTask) -> Iterator[Problem]:
    """Check what outputs and inputs say about datasets."""
    for number, read in enumerate(placed.task.inputs):
        path = (*placed.path, "inputs", number, "dataset")
        if read.dataset:
            yield from _check_dataset_name(
                read.dataset.name, (*path, "name"), may_have_version=True
            )
            if read.dataset.localpath is not None:
                yield Problem((*path, "localpath"), UPLOAD_FIRST)
    for number, output in enumerate(placed.task.outputs):
        made = output.dataset or output.update_dataset
        if made is None:
            continue
        path = (*placed.path, "outputs", number, "dataset" if output.dataset else "update_dataset")
        yield from _check_dataset_name(made.name, (*path, "name"))
        paths = made.paths if isinstance(made, OsmoUpdate) else (made.path,)
        for part in paths:
            if part and _leads_outside(part):
                message = f"{part!r} must be a path in the output of the task, such as model"
                yield Problem(path, message)
        regex = "" if isinstance(made, OsmoUpdate) else made.regex
        if not _is_pattern(regex):
            yield Problem((*path, "regex"), f"{regex!r} is not a regular expression")


def _check_dataset_name(
    name: str, path: Path, *, may_have_version: bool = False
) -> Iterator[Problem]:
    plain, colon, version = name.replace(WORKFLOW_ID, "0").partition(":")
    if not DATASET_NAME.fullmatch(plain):
        message = f"{name!r} is not the name of a dataset; use letters, digits, - and _"
        yield Problem(path, message)
    elif colon and not may_have_version:
        yield Problem(path, f"{name} names a version; a new version gets its number automatically")
    elif colon and not VERSION_NUMBER.fullmatch(version):
        yield Problem(path, f"{name} must end with the number of a version, such as {plain}:2")


def _is_pattern(regex: str) -> bool:
    try:
        re.compile(regex)
    except re.error:
        return False
    return True


def _check_mounts(placed: PlacedTask) -> Iterator[Problem]:
    for number, mount in enumerate(placed.task.volume_mounts):
        sides = mount.split(":")
        if len(sides) > 2 or not all(_is_folder(side) for side in sides):
            message = f"{mount!r} is not a mount; write /folder or /folder:/place"
            yield Problem((*placed.path, "volumeMounts", number), message)


def _is_folder(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return len(parts) > 1 and parts[0] == "/" and ".." not in parts


def _check_exit_actions(placed: PlacedTask) -> Iterator[Problem]:
    for action in placed.task.exit_actions:
        if action.upper() not in ExitAction.__members__:
            message = f"is not an action; use one of {', '.join(ExitAction.__members__)}"
            yield Problem((*placed.path, "exitActions", action), message)


def _check_order(groups: list[PlacedGroup]) -> Iterator[Problem]:
    """Check that inputs name tasks of other groups, and that no group waits for itself."""
    group_by_task = group_of_tasks(groups)
    for group in groups:
        for placed in group.tasks:
            for number, read in enumerate(placed.task.inputs):
                path = (*placed.path, "inputs", number, "task")
                if read.task is None or ":" in read.task:
                    continue
                if read.task not in group_by_task:
                    yield Problem(path, f"there is no task {read.task}")
                elif group_by_task[read.task] == group.group.name:
                    yield Problem(path, f"{read.task} is in the same group, and starts with it")
    waits = {group.group.name: upstream_groups(group, group_by_task) for group in groups}
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        circle = error.args[1]
        path = next(group.path for group in groups if group.group.name == circle[0])
        yield Problem(path, f"the groups wait for each other: {' → '.join(circle)}")
