"""The workflow in docs/workflows.md can be imported, without a note that the page does not have."""

import re

from config.run.install import ROOT
from tests.workflows.imports.files import PROGRAM
from workflows.imports.mapping import map_workflow
from workflows.imports.reading import read_workflow


def test_the_workflow_of_the_page_is_imported() -> None:
    page = (ROOT / "docs/workflows.md").read_text()
    match = re.search(r"```yaml\n(workflow:.*?)```", page, re.DOTALL)
    assert match
    imported = map_workflow(read_workflow(match[1]), files={PROGRAM: ""})
    (group,) = imported.graph.groups
    assert [role["name"] for role in group.document["roles"]] == ["worker", "master"]
    assert group.document["roles"][0]["compute"]["gpuDevicesRequest"] == 1
