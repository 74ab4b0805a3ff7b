"""Submitting: a file and flags become the request, which is sent, or tried."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trainyard_cli.commands.options import MASTER, command_with, parameters_of, typed_in
from trainyard_cli.destinations import FRAMEWORKS, Destination
from trainyard_cli.errors import CliError, ExitCode, wrong_use
from trainyard_cli.flags.body import Body, Typed, laid_over
from trainyard_cli.flags.table import FLAGS, MASTER_FLAGS
from trainyard_cli.flags.values import BadValue
from trainyard_cli.invocation import Invocation, of
from trainyard_cli.show import Format, document, sentences

GENERATED = "job"  # how a name begins that nobody gave


def command_of(to: Destination) -> Callable[..., None]:
    """The command that submits there."""

    def submit(context: Any, **typed: Any) -> None:
        _submit(of(context), to, typed)

    text = f"Submit a {to.noun}. Everything after -- is passed to its program."
    return command_with(submit, text, parameters_of(to))


def _submit(invocation: Invocation, to: Destination, typed: dict[str, Any]) -> None:
    framework = to.framework or _framework(typed.get("framework") or "")
    body = _body(invocation, typed["file"], typed["project"])
    body = _filled(body, _request(typed, invocation.words), framework)
    _name(body, typed["name"] or typed["named"], typed["name_prefix"])
    answer = _send(invocation, to, body, typed["output"], rehearses=typed["dry_run"])
    if answer and (typed["wait"] or typed["attach"]):
        _follow(invocation, answer["workloadId"], attach=typed["attach"])


def _follow(invocation: Invocation, workload_id: str, *, attach: bool) -> None:
    """To the end, which is that of this command, too."""
    from trainyard_cli.commands import logs, waiting

    if attach:
        workload = invocation.client.get(f"/workloads/{workload_id}")
        try:
            logs.write(invocation, workload, rank="all", follow="true")
        except CliError as error:
            if error.code != ExitCode.UNREACHABLE:
                raise
            print(f"trainyard: {error}\nWaiting for its end instead.", file=sys.stderr)
    waiting.conclude(invocation, waiting.last_of(invocation, workload_id))


def _request(typed: dict[str, Any], words: tuple[str, ...]) -> Typed:
    flags = {it.key: typed_in(typed, it.key) for it in FLAGS}
    if typed["interactive"]:
        flags["category"] = flags["category"] or "Interactive"
    return Typed(
        flags=flags,
        master={it.key: typed_in(typed, MASTER + it.key) for it in MASTER_FLAGS},
        words=words,
        is_command=typed["is_command"],
        master_command=typed.get("master_command"),
        no_master=typed.get("no_master") or None,
        master_no_pvcs=bool(typed.get("master_no_pvcs")),
        sets=typed["sets"] or (),
        master_sets=typed.get("master_sets") or (),
    )


def _framework(text: str) -> str:
    if text and text.lower() not in FRAMEWORKS:
        raise wrong_use(f"--framework: {text!r} is none; write PyTorch, TF, MPI, XGBoost or JAX.")
    return FRAMEWORKS[text.lower()] if text else ""


def _body(invocation: Invocation, file: Path | None, project: str) -> Body:
    """What the file says, and where it goes."""
    body = _read(file) if file else {}
    if project or not (body.get("projectId") and body.get("clusterId")):
        place = invocation.project(project)
        body |= {"projectId": place["id"], "clusterId": place["clusterId"]}
    return body


def _read(file: Path) -> Body:
    import yaml

    try:
        body = yaml.safe_load(sys.stdin if str(file) == "-" else file.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise wrong_use(f"{file} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise wrong_use(f"{file} is no YAML: {error}") from error
    if not isinstance(body, dict) or not isinstance(body.get("spec"), dict):
        raise wrong_use(f"{file} is no request: it needs spec, as the wizard's summary shows it.")
    if "assets" in body:
        todo = "Take the request body that As YAML shows below, which has their values."
        raise wrong_use(f"{file} names assets, which this command line cannot.", todo)
    return body


def _filled(body: Body, request: Typed, framework: str) -> Body:
    try:
        body = laid_over(body, request, os.environ)
    except BadValue as error:
        raise wrong_use(f"{error}.") from error
    if framework:
        body["spec"]["distributedFramework"] = framework
    return body


def _name(body: Body, name: str, prefix: str) -> None:
    if name and prefix:
        raise wrong_use("Give a name or --name-prefix, not both.")
    if name:
        body["name"] = name
        body.pop("useGivenNameAsPrefix", None)
    elif prefix or not body.get("name"):
        body |= {"name": prefix or GENERATED, "useGivenNameAsPrefix": True}


def _send(
    invocation: Invocation, to: Destination, body: Body, output: Format | None, *, rehearses: bool
) -> Any:
    """The new workload, if there is one."""
    from trainyard_cli.client import Refusal

    try:
        answer = invocation.client.post(
            f"/workloads/{to.path}", body, dryRun="true" if rehearses else None
        )
    except Refusal as refusal:
        refusal.lines = [f"  {_flag(field)}: {text}" for field, text in refusal.issues]
        raise
    if rehearses:
        rehearsed(answer, output)
        return None
    if output is Format.NAME:
        print(answer["name"])
    elif not document(answer, output):
        print(f"Submitted {answer['name']}.", flush=True)
        print(f"Follow it: trainyard describe job {answer['name']}", file=sys.stderr)
    return answer


def rehearsed(answer: Any, output: Format | None) -> None:
    """A dry run: the spec with all defaults, what is wrong with it, and whether it would start."""
    if not document(answer, output) and output is not Format.NAME:
        import yaml

        plan = {"spec": answer["spec"]} | {
            key: answer[key] for key in ("masterSpec", "manifests") if answer.get(key)
        }
        if answer["spec"]:
            print(yaml.safe_dump(plan, sort_keys=False, allow_unicode=True), end="")
        if verdict := answer.get("verdict"):
            words = sentences(verdict["title"], verdict["nextStep"])
            print(f"# Starts: {verdict['answer']}. {words}".rstrip())
    issues = [(it["field"], it["details"]) for it in answer["complianceIssues"]]
    if issues:
        lines = [f"  {_flag(field)}: {text}" for field, text in issues]
        raise CliError("It would be refused.", lines=lines)


def _flag(field: str) -> str:
    """A field of the request as this command line says it, where it does."""
    for root, flags, names in (("spec.", FLAGS, False), ("masterSpec.", MASTER_FLAGS, True)):
        for flag in flags:
            path = root + flag.path
            if field == path or field.startswith(f"{path}."):
                return flag.master_names[0] if names else flag.name
    return {"projectId": "--project", "noMaster": "--no-master"}.get(field, field)
