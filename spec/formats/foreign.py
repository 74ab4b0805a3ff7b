"""Recognizes files of programs that Trainyard does not run."""

import re
from collections.abc import Mapping
from typing import Any

WORKFLOW = "workflow"
#: The first line of an OSMO workflow, which is often a template of Jinja and then no valid YAML.
WORKFLOW_LINE = re.compile(r"^workflow:[ \t]*(#.*)?$", re.MULTILINE)
IS_WORKFLOW = (
    "This is an OSMO workflow, not a workload. Submit it on the page Workflows, or with trainyard "
    "workflow submit"
)


def is_workflow(document: Mapping[str, Any]) -> bool:
    """Whether a document is an OSMO workflow."""
    return isinstance(document.get(WORKFLOW), Mapping)


def line_of_workflow(text: str) -> int:
    """Return the line where an OSMO workflow begins, or 0 if the text is none."""
    match = WORKFLOW_LINE.search(text)
    return text.count("\n", 0, match.start()) + 1 if match else 0
