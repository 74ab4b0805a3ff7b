"""Reads a manifest of Kubernetes that was pasted as YAML, as the document of a draft."""

from typing import Any

from projects.models import Project
from spec.formats.lines import LineProblem, ParsedYaml, YamlError
from spec.imports.manifest.jobs import import_manifest
from spec.problems.errors import Path
from workloads.manifests import fit_manifest


def is_manifest(document: dict[str, Any]) -> bool:
    """Whether a document is a manifest of Kubernetes."""
    return "apiVersion" in document and "kind" in document


def draft_document(lined: ParsedYaml, project: Project | None) -> tuple[ParsedYaml, list[str]]:
    """Return the draft that a manifest describes, with the lines of the manifest, and notes about
    what is left out. Raises ``YamlError`` with everything in it that no workload has."""
    job = import_manifest(lined.values)
    if project:
        fit_manifest(job, project)
    if job.faults:
        raise YamlError(
            LineProblem(_line_of_place(lined, fault.path), f"{fault.path}: {fault.text}")
            for fault in job.faults
        )
    document: dict[str, Any] = {"name": job.name, "kind": job.kind.value, "spec": job.spec}
    if job.kind.is_gang and job.no_master:
        document["noMaster"] = True
    if job.master is not None:
        document["masterSpec"] = job.master
    lines: dict[Path, int] = {
        (root, key): _line_of_place(lined, job.place_of(f"{root}.{key}"))
        for root in ("spec", "masterSpec")
        for key in document.get(root, {})
    }
    return ParsedYaml(document, lines), [f"{note.path} {note.text}." for note in job.notes]


def _line_of_place(lined: ParsedYaml, place: str) -> int:
    return lined.line_of(_split_place(lined.values, place))


def _split_place(document: Any, place: str) -> Path:
    """Return the path that a dotted place means in a document, as far as it exists there. Keys may
    contain dots, as those of labels do."""
    path: Path = ()
    while place and isinstance(document, dict | list):
        items = document if isinstance(document, dict) else dict(enumerate(document))
        steps = [step for step in items if f"{place}.".startswith(f"{step}.")]
        if not steps:
            break
        step = max(steps, key=lambda it: len(str(it)))
        place = place[len(str(step)) + 1 :]
        path = (*path, step)
        document = items[step]
    return path
