"""Submits a manifest of Kubernetes, as people pass it to ``kubectl apply -f``."""

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from trainyard_cli.commands.attach import follow
from trainyard_cli.commands.options import ATTACH, WAIT
from trainyard_cli.commands.sbatch import DryRun, print_submitted, read_text
from trainyard_cli.commands.submit import flag_of_field, print_dry_run, print_warnings
from trainyard_cli.invocation import Output, ProjectName, current_invocation

PATH = "/workloads/manifests"
ENCODED = "manifestBase64Encoded"  # the field of the request with the text of the file
Manifest = Annotated[
    Path, typer.Argument(help="The manifest, as YAML or JSON; - reads standard input.")
]
Name = Annotated[str, typer.Option("--name", help="Name, instead of the manifest's.")]


def add(app: typer.Typer, _: Sequence[str]) -> None:
    """Add the command."""
    app.command("submit-manifest")(submit_manifest)


def submit_manifest(
    context: typer.Context,
    manifest: Manifest,
    name: Name = "",
    project: ProjectName = "",
    dry_run: DryRun = False,
    wait: Annotated[bool, typer.Option("--wait", help=WAIT)] = False,
    attach: Annotated[bool, typer.Option("--attach", help=ATTACH)] = False,
    output: Output = None,
) -> None:
    """Submit a manifest of Kubernetes: a PyTorchJob, TFJob, XGBoostJob, JAXJob, MPIJob or Job.

    It runs on the project's cluster, of any kind. Fields that no workload has are refused by name.
    """
    from trainyard_cli.rest.client import Refusal  # slow to load

    invocation = current_invocation(context)
    target = invocation.project(project)
    metadata = {"projectId": target["id"], "clusterId": target["clusterId"], "name": name}
    encoded = b64encode(read_text(manifest).encode()).decode()
    body: dict[str, Any] = {"metadata": metadata, ENCODED: encoded}
    try:
        answer = invocation.client.post(PATH, body, dryRun="true" if dry_run else None)
    except Refusal as refusal:
        refusal.lines = [f"  {_explain(field, text)}" for field, text in refusal.issues]
        raise
    if dry_run:
        print_dry_run(answer, output)
        return
    print_warnings(answer)
    workload = answer["workload"]["metadata"]
    print_submitted(workload["name"], answer, output)
    if wait or attach:
        follow(invocation, workload["id"], attach=attach)


def _explain(field: str, text: str) -> str:
    """Return what is wrong with a field of the request. A fault of the file names its line."""
    return text if field == ENCODED else f"{flag_of_field(field)} {text}"
