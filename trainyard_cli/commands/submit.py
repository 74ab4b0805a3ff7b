"""Submits workloads: a file and flags become the request, which is sent, or tried in a dry run."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from trainyard_cli.assets import SOURCES, TEMPLATE, parse_data_source, replace_names
from trainyard_cli.commands.options import (
    MASTER_PREFIX,
    build_command,
    read_typed,
    submit_parameters,
)
from trainyard_cli.errors import CliError, reason_of, wrong_use
from trainyard_cli.flags.body import (
    DEVICES,
    GPU_PARTS,
    Body,
    Typed,
    apply_typed,
    exclude_nodes,
)
from trainyard_cli.flags.older_forms import (
    add_claims,
    add_volumes,
    apply_service_type,
    check_ports,
    use_own_ids,
)
from trainyard_cli.flags.table import FLAGS, MASTER_FLAGS
from trainyard_cli.flags.values import BadValue
from trainyard_cli.invocation import Invocation, current_invocation
from trainyard_cli.notes import LogLevel, print_note
from trainyard_cli.rest.destinations import FRAMEWORKS, Destination
from trainyard_cli.show import Format, join_sentences, print_document

#: Fields without a flag in the table → their flags.
OTHER_FLAGS = {
    "projectId": "--project",
    "noMaster": "--no-master",
    "spec.distributedFramework": "--framework",
    "templateId": "--template",
    "spec.compute": "--compute",
    "assets.compute": "--compute",
    "assets.environment": "--environment",
}
#: What --interactive means where the cluster has it and no flag says otherwise.
INTERACTIVE = {"priorityClass": "high", "preemptibility": "non-preemptible"}
#: The first line of an OSMO workflow, and what Helm and Jinja replace.
WORKFLOW = re.compile(r"^workflow:\s*(#.*)?$", re.MULTILINE)
PLACEHOLDER = re.compile(r"\{\{[^{}\n]*\}\}|\{%[^%\n]*%\}")
MANIFEST = "manifest."  # in front of the path of a field in a manifest
GENERATED_PREFIX = "job"  # how a generated name begins
FROM_REQUEST = "user"  # the source of a value that is in the request itself


def build_submit(to: Destination) -> Callable[..., None]:
    """Return the command that submits to ``to``."""

    def submit(context: Any, **typed: Any) -> None:
        if context.args:
            words = shlex.join(context.args)
            raise wrong_use(f"Write what its program gets after --, such as -- {words}")
        _submit(current_invocation(context), to, typed)

    text = f"Submit {to.noun}. Everything after -- is passed to its program."
    return build_command(submit, text, submit_parameters(to))


def _submit(invocation: Invocation, to: Destination, typed: dict[str, Any]) -> None:
    """Submit what was typed, or try it, and then follow it or say how to."""
    framework = to.framework or _parse_framework(typed.get("framework") or "")
    body = with_project(
        invocation, read_body(typed["file"]) if typed["file"] else {}, typed["project"]
    )
    try:
        request, forwarded = _read_typed(typed, invocation.words)
        asset_names = _asset_names(typed)
        body = exclude_nodes(apply_typed(body, request, os.environ), typed["excluded_nodes"])
    except BadValue as error:
        raise wrong_use(f"{error}.") from error
    if framework:
        body["spec"]["distributedFramework"] = framework
    body = replace_names(invocation, body, asset_names)
    _set_name(body, typed["name"] or typed["named"], typed["name_prefix"])
    if typed["interactive"]:
        body = _add_defaults(invocation, to, body, INTERACTIVE)
    answer = _send(
        invocation, to, body, typed["output"], rehearses=typed["dry_run"], request=request
    )
    ends_here = typed["wait"] or typed["attach"]
    if answer and typed["output"] in {None, Format.WIDE, Format.TABLE} and not ends_here:
        print_note(f"Follow it: trainyard describe job {answer['name']}")
    if answer and forwarded:
        ports = " ".join(f"--port {it}" for it in forwarded)
        where = f" --address {typed['address']}" if typed["address"] else ""
        line = f"trainyard port-forward {answer['name']} {ports}{where}"
        print_note(f"Reach it: {line}")
    if answer and ends_here:
        from trainyard_cli.commands.attach import follow

        follow(invocation, answer["workloadId"], attach=typed["attach"])


def _read_typed(typed: dict[str, Any], words: tuple[str, ...]) -> tuple[Typed, list[str]]:
    """Return what was typed, and the ports to forward once the workload runs. Raises
    ``BadValue``."""
    flags = {it.key: read_typed(typed, it.key) for it in FLAGS}
    variables = [it for it in typed["environments"] if "=" in it]
    flags["environment_variable"] = [*flags["environment_variable"], *variables]
    if typed["interactive"]:
        flags["category"] = flags["category"] or "Interactive"
    flags = _read_older_switches(flags, typed)
    flags = add_claims(flags, typed["claims"])
    flags = add_volumes(
        flags,
        typed["volumes"],
        nfs_server=typed["nfs_server"],
        propagates=typed["mount_propagation"],
    )
    forwarded: list[str] = []
    if typed["service_type"]:
        flags, forwarded = apply_service_type(flags, typed["service_type"])
    else:
        check_ports(flags)
    request = Typed(
        flags=flags,
        master={it.key: read_typed(typed, MASTER_PREFIX + it.key) for it in MASTER_FLAGS},
        words=words,
        is_command=typed["is_command"],
        master_command=typed.get("master_command"),
        no_master=typed.get("no_master") or None,
        master_no_pvcs=bool(typed.get("master_no_pvcs")),
        sets=typed["sets"] or (),
        master_sets=typed.get("master_sets") or (),
    )
    return request, forwarded


def _read_older_switches(flags: dict[str, Any], typed: dict[str, Any]) -> dict[str, Any]:
    """Return the flags with those that switches of Run:ai's first command line stand for. Raises
    ``BadValue``."""
    flags = dict(flags)
    if typed["preemptible"]:
        flags["preemptibility"] = flags["preemptibility"] or "preemptible"
    if typed["always_pull_image"] or typed["local_image"]:
        policy = "Always" if typed["always_pull_image"] else "Never"
        flags["image_pull_policy"] = flags["image_pull_policy"] or policy
    if typed["prevent_escalation"]:
        flags["allow_privilege_escalation"] = False
    return use_own_ids(flags) if typed["run_as_user"] else flags


def _asset_names(typed: dict[str, Any]) -> Body:
    """Return the names of assets that flags name, by their keys in ``assets`` of the request.
    Raises ``BadValue``."""
    environments = [it for it in typed["environments"] if "=" not in it]
    if len(environments) > 1:
        raise BadValue("--environment: a workload has one environment; give one name")
    return {
        TEMPLATE: typed["template"],
        "environment": "".join(environments),
        "compute": typed["compute_resource"],
        SOURCES: [parse_data_source(text) for text in typed["datasources"]],
    }


def _parse_framework(text: str) -> str:
    """Return the framework of ``--framework`` as REST names it. Raises ``CliError``."""
    if text and text.lower() not in FRAMEWORKS:
        raise wrong_use(
            f"--framework: {text!r} is not a framework; write PyTorch, TF, MPI, XGBoost or JAX."
        )
    return FRAMEWORKS[text.lower()] if text else ""


def with_project(invocation: Invocation, body: Body, project: str) -> Body:
    """Return the request with its project and cluster: its own, unless ``project`` names one, or
    else that of the project that is set."""
    if project or not (body.get("projectId") and body.get("clusterId")):
        target = invocation.project(project)
        body = body | {"projectId": target["id"], "clusterId": target["clusterId"]}
    return body


def read_body(file: Path) -> Body:
    """Return the request in a file, or on standard input for ``-``. Raises ``CliError``."""
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise wrong_use(f"{file} cannot be read: {reason_of(error)}.") from error
    return parse_body(text, str(file))


def parse_body(text: str, file: str) -> Body:
    """Return the request in the text of a file, whose name is only for messages. Raises
    ``CliError``."""
    import yaml

    if WORKFLOW.search(text):
        raise wrong_use(
            f"{file} is an OSMO workflow, which this command does not submit.",
            f"Submit it: trainyard workflow submit {file}",
        )
    try:
        body = yaml.safe_load(text)
    except yaml.YAMLError as error:
        if placeholder := PLACEHOLDER.search(text):
            message = f"{file} is a template: {placeholder[0]} has to be filled in first."
            raise wrong_use(message) from error
        raise wrong_use(f"{file} is not valid YAML: {error}") from error
    if isinstance(body, dict) and "apiVersion" in body:
        todo = f"Submit it: trainyard submit-manifest {file}"
        raise wrong_use(f"{file} is a manifest of Kubernetes.", todo)
    if not isinstance(body, dict) or not isinstance(body.get("spec"), dict):
        raise wrong_use(
            f"{file} is not a request: it needs spec, as the wizard's summary shows it."
        )
    return body


def _set_name(body: Body, name: str, prefix: str) -> None:
    """Give the request the name that was typed, or make the server generate one."""
    if name and prefix:
        raise wrong_use("Give a name or --name-prefix, not both.")
    if name:
        body["name"] = name
        body.pop("useGivenNameAsPrefix", None)
    elif prefix or not body.get("name"):
        body |= {"name": prefix or GENERATED_PREFIX, "useGivenNameAsPrefix": True}


def _add_defaults(
    invocation: Invocation, to: Destination, body: Body, defaults: Mapping[str, str]
) -> Body:
    """Return the request with values for fields that it does not have, except those that would be
    refused, such as a priority on a cluster without priorities. A note names these."""
    missing = {key: value for key, value in defaults.items() if key not in body["spec"]}
    whole = {**body, "spec": {**missing, **body["spec"]}}
    answer = invocation.client.post(f"/workloads/{to.path}", whole, dryRun="true")
    for issue in answer["complianceIssues"]:
        key = issue["field"].removeprefix("spec.")
        if key in missing:
            whole["spec"].pop(key, None)
            print_note(f"--interactive: {key} {missing[key]} is left out: {issue['details']}.")
    return whole


def _send(
    invocation: Invocation,
    to: Destination,
    body: Body,
    output: Format | None,
    *,
    rehearses: bool,
    request: Typed,
) -> Any:
    """Send the request, print the result, and return the answer, or ``None`` after a dry run.
    ``request`` is what was typed."""
    from trainyard_cli.rest.client import Refusal

    try:
        answer = invocation.client.post(
            f"/workloads/{to.path}", body, dryRun="true" if rehearses else None
        )
    except Refusal as refusal:
        refusal.lines = [
            f"  {flag_of_field(_typed_field(field, request))} {text}"
            for field, text in refusal.issues
        ]
        raise
    if rehearses:
        for issue in answer["complianceIssues"]:
            issue["field"] = _typed_field(issue["field"], request)
        print_dry_run(answer, output)
        return None
    print_warnings(answer)
    if output is Format.NAME:
        print(answer["name"])
    elif not print_document(answer, output):
        print(f"Submitted {answer['name']}.", flush=True)
    return answer


def _typed_field(field: str, request: Typed) -> str:
    """Return the field that was typed instead of one that follows from it: a part of a GPU, such as
    ``-g 0.1``, also sets the type of the request."""
    root, _, path = field.partition(".")
    flags = request.master if root == "masterSpec" else request.flags
    table = MASTER_FLAGS if root == "masterSpec" else FLAGS
    typed_paths = {flag.path for flag in table if flags.get(flag.key)}
    typed_paths |= {flag.path for flag in FLAGS if request.flags.get(flag.key)}
    if path in GPU_PARTS and path not in typed_paths and DEVICES in typed_paths:
        return f"{root}.{DEVICES}"
    return field


def print_dry_run(answer: Any, output: Format | None) -> None:
    """Print the result of a dry run: the spec without empty values, whether it would start, and
    warnings. With ``output`` the spec is complete.

    Raises ``CliError`` if the request would be refused.
    """
    if not print_document(answer, output) and output is not Format.NAME:
        import yaml

        plan = {"spec": without_empty_values(answer["spec"])}
        if answer.get("masterSpec"):
            plan["masterSpec"] = without_empty_values(answer["masterSpec"])
        if answer.get("manifests"):
            plan["manifests"] = answer["manifests"]
        if answer["spec"]:
            print(yaml.safe_dump(plan, sort_keys=False, allow_unicode=True), end="")
        if (verdict := answer.get("verdict")) and not answer["complianceIssues"]:
            words = join_sentences(verdict["title"], verdict["nextStep"])
            print(f"# Starts: {verdict['answer']}. {words}".rstrip())
        for field, source in answer.get("sources", {}).items():
            if source != FROM_REQUEST:
                print(f"# {field} is from {source}.")
    print_warnings(answer)
    if issues := answer["complianceIssues"]:
        raise refusal_error(issues, "It would be refused.")


def without_empty_values(document: Any) -> Any:
    """Return a document without keys whose values are null or empty, at every depth."""
    if isinstance(document, list):
        return [without_empty_values(item) for item in document]
    if not isinstance(document, dict):
        return document
    values = {key: without_empty_values(value) for key, value in document.items()}
    return {key: value for key, value in values.items() if value not in (None, "", [], {})}


def print_warnings(answer: Any) -> None:
    """Print the fields of the request that have no effect there, by flag."""
    for it in answer.get("warnings", ()):
        print_note(f"{flag_of_field(it['field'])} {it['details']}.", LogLevel.WARN)


def refusal_error(issues: list[dict[str, str]], message: str) -> CliError:
    """Return an error that lists what is wrong with a request, by flag."""
    lines = [f"  {flag_of_field(it['field'])} {it['details']}" for it in issues]
    return CliError(message, lines=lines)


def flag_of_field(field: str) -> str:
    """Return the flag of a field, such as ``--workers:``, or ``--nfs: server`` for one word of
    several. A field without a flag keeps its path, and a field of a manifest its path there."""
    for root, flags, names in (("spec.", FLAGS, False), ("masterSpec.", MASTER_FLAGS, True)):
        for flag in flags:
            path = root + flag.path
            if field == path or field.startswith(f"{path}."):
                name = flag.master_names[0] if names else flag.name
                *_, last = field[len(path) :].split(".")
                return f"{name}: {last}".rstrip() if not last.isdecimal() else f"{name}:"
    if field.startswith(f"assets.{SOURCES}."):
        return "--datasource:"
    return f"{OTHER_FLAGS.get(field, field.removeprefix(MANIFEST))}:"
