"""The parameters of commands that submit, built from the table of flags in the form that typer
reads."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from trainyard_cli.flags.table import (
    FLAGS,
    GANG,
    MASTER_FLAGS,
    MPI,
    PYTORCH,
    WORKSPACE,
    CliFlag,
)
from trainyard_cli.invocation import Output, ProjectName
from trainyard_cli.rest.destinations import Destination

ONE_POD = "A standard training is one pod; use --workers of a distributed one."
RUNS = "For several runs, submit each, such as in a loop of your shell."
#: Flags of Run:ai that are recognized → what to use instead.
REFUSED = {
    "--mig-profile": "MIG is not supported; use --gpu-portion-request or --gpu-memory-request.",
    "--completions": f"{ONE_POD} {RUNS}",
    "--parallelism": ONE_POD,
    "--runs": RUNS,
    "--elastic": "Use --min-replicas and --max-replicas of a PyTorch training.",
    "--inference": "Trainyard runs trainings and workspaces, and no inference.",
    "--jupyter": "Use: trainyard workspace submit NAME -i jupyter/scipy-notebook --external-url "
    "container=8888,tool=jupyter-notebook",
    "--privileged": "Privileged containers are not supported; add a --capability.",
    "--datavolume": "Data volumes are not supported; use --datasource or --existing-pvc.",
    "--pod-running-timeout": "Use --time-limit, and --backoff-limit for pods that fail.",
}
#: Flags of REFUSED that change nothing with this value.
WITHOUT_EFFECT = {"--completions": "1", "--parallelism": "1", "--runs": "1"}
#: Marks of flags that only some workloads have → these workloads.
OWNERS = {
    GANG: "distributed trainings",
    PYTORCH: "PyTorch trainings",
    MPI: "MPI trainings",
    WORKSPACE: "workspaces",
}
NO_MASTER = "--no-master"
NO_CLAIMS_OF_MASTER = "--master-no-pvcs"
ENVIRONMENT = "--environment"  # name of an asset; NAME=VALUE in the first command line
MASTER_PREFIX = "master_"  # in front of the key of a master's flag
SUBMISSION_PANEL = "Submission"
MASTER_PANEL = "Master: as the workers, unless"
REFUSED_SWITCHES = {"--privileged", "--elastic", "--inference", "--jupyter"}
OPTIONAL_TEXT = Optional[str]  # noqa: UP045 -- read at run time
OPTIONAL_SWITCH = Optional[bool]  # noqa: UP045 -- read at run time
# at the end of a flag's key
OTHER_SUFFIX = "__other"
NEGATED_SUFFIX = "__negated"
Parameter = inspect.Parameter
WAIT = "Wait for its end, and exit with its result."
ATTACH = "Print its logs to the end, and exit with its result."


def parameter(key: str, annotation: Any, option: Any, default: Any = None) -> Parameter:
    """Return a keyword parameter that typer turns into an option or argument."""
    return Parameter(
        key, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[annotation, option]
    )


def _option(panel: str, *names: str, text: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=False, **more)


def _common_parameters(*, file_names: list[str]) -> list[Parameter]:
    """Return the parameters of every submission that are not in the table."""
    name = typer.Argument(help="Name; without one, one is generated.", show_default=False)
    prefix = _option(
        SUBMISSION_PANEL,
        "--name-prefix",
        "--job-name-prefix",
        text="How the generated name begins.",
    )
    file = _option(
        SUBMISSION_PANEL,
        *file_names,
        text="A request body in YAML or JSON; flags override it.",
    )
    field = _option(
        SUBMISSION_PANEL,
        "--set",
        metavar="PATH=VALUE",
        text="Any field of the spec, as JSON or text; null removes it.",
    )
    command = _option("Container", "--command", "-c", text="What follows -- is the command.")
    category = _option(
        "Scheduling",
        "--interactive",
        text="To work in: category Interactive, high priority, non-preemptible.",
    )
    nodes = _option(
        "Scheduling", "--exclude-node", metavar="NODE", text="A node where no pod may run."
    )
    return [
        Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context),
        parameter("name", str, name, ""),
        parameter("named", str, typer.Option("--name", hidden=True), ""),
        parameter("name_prefix", str, prefix, ""),
        Parameter("project", Parameter.KEYWORD_ONLY, annotation=ProjectName, default=""),
        parameter("file", Optional[Path], file),  # noqa: UP045 -- read at run time
        parameter(
            "dry_run",
            bool,
            _option(SUBMISSION_PANEL, "--dry-run", text="Submit nothing; try it."),
            False,
        ),
        parameter("wait", bool, _option(SUBMISSION_PANEL, "--wait", text=WAIT), False),
        parameter("attach", bool, _option(SUBMISSION_PANEL, "--attach", text=ATTACH), False),
        Parameter("output", Parameter.KEYWORD_ONLY, annotation=Output, default=None),
        parameter("sets", list[str], field, []),
        parameter("is_command", bool, command, False),
        parameter("interactive", bool, category, False),
        parameter("excluded_nodes", list[str], nodes, []),
    ]


def _asset_parameters() -> list[Parameter]:
    """Return the parameters that name assets. Flags and files override what assets contain."""
    panel = "Assets, by name"
    template = _option(panel, "--template", metavar="NAME", text="A template to begin with.")
    environment = _option(
        panel,
        ENVIRONMENT,
        metavar="NAME",
        text="An environment. NAME=VALUE is a variable, as for Run:ai's first command line.",
    )
    compute = _option(panel, "--compute", metavar="NAME", text="A compute resource.")
    words = (
        "A data source, mounted where it says, or at its path. name=, path=, version= of a dataset"
    )
    source = _option(panel, "--datasource", metavar="WORD=…", text=words)
    return [
        parameter("template", str, template, ""),
        parameter("environments", list[str], environment, []),
        parameter("compute_resource", str, compute, ""),
        parameter("datasources", list[str], source, []),
    ]


def _older_parameters() -> list[Parameter]:
    """Return the parameters that only Run:ai's first command line has."""
    volume = _option(
        "Storage",
        "--volume",
        "-v",
        metavar="SOURCE:TARGET",
        text="A folder of the node; with :HOST at the end, of an NFS server; :ro to read only.",
    )
    server = _option("Storage", "--nfs-server", metavar="HOST", text="The NFS server of --volume.")
    passes = _option(
        "Storage", "--mount-propagation", text="Later mounts of the node show in --volume."
    )
    service = _option(
        "Network",
        "--service-type",
        "-s",
        metavar="WORD",
        text="What --port EXTERNAL:CONTAINER is: portforward, nodeport, loadbalancer, ingress.",
    )
    address = _option(
        "Network", "--address", metavar="HOST", text="Where portforward listens; localhost else."
    )
    claim = _option(
        "Storage",
        "--pvc",
        metavar="CLAIM:PATH",
        text="A PVC; CLASS:SIZE:PATH creates one; :ro at the end to read only.",
    )
    user = _option("Security", "--run-as-user", text="With your user ID and group ID here.")
    # Switches that stand for a value of another flag:
    preemptible = typer.Option("--preemptible", hidden=True)
    pulls = typer.Option("--always-pull-image", hidden=True)
    local_image = typer.Option("--local-image", hidden=True)
    prevents = typer.Option("--prevent-privilege-escalation", hidden=True)
    waits = typer.Option("--wait-for-submit", hidden=True)  # submitting does not wait
    return [
        parameter("volumes", list[str], volume, []),
        parameter("nfs_server", str, server, ""),
        parameter("mount_propagation", bool, passes, False),
        parameter("service_type", str, service, ""),
        parameter("address", str, address, ""),
        parameter("claims", list[str], claim, []),
        parameter("run_as_user", bool, user, False),
        parameter("preemptible", bool, preemptible, False),
        parameter("always_pull_image", bool, pulls, False),
        parameter("local_image", bool, local_image, False),
        parameter("prevent_escalation", bool, prevents, False),
        parameter("wait_for_submit", str, waits, ""),
    ]


def _gang_parameters() -> list[Parameter]:
    """Return the parameters of distributed trainings that are not in the table, and those of the
    master."""
    command = _option(MASTER_PANEL, "--master-command", metavar="TEXT", text="Its command.")
    claims = _option(MASTER_PANEL, NO_CLAIMS_OF_MASTER, text="None of the workers' PVCs.")
    field = _option(
        MASTER_PANEL, "--master-set", metavar="PATH=VALUE", text="Any field of its setup."
    )
    workers_only = _option("Workers", NO_MASTER, text="Workers only.")
    return [
        parameter("no_master", bool, workers_only, False),
        parameter("master_command", OPTIONAL_TEXT, command),
        parameter("master_no_pvcs", bool, claims, False),
        parameter("master_sets", list[str], field, []),
        *(
            row
            for it in MASTER_FLAGS
            for row in _flag_parameters(MASTER_PREFIX + it.key, it.master_names, it, MASTER_PANEL)
        ),
    ]


def submit_parameters(to: Destination) -> list[Parameter]:
    """Return all parameters of a command that submits to ``to``.

    If -f means the framework, a file only has its long name, ``--file``.
    """
    asks = to.is_gang and not to.framework
    rows = _common_parameters(file_names=["--file"] if asks else ["--file", "-f"])
    if asks:
        text = "PyTorch, TF, MPI, XGBoost or JAX."
        option = _option("Workers", "--framework", "-f", metavar="NAME", text=text)
        rows.append(parameter("framework", OPTIONAL_TEXT, option))
    rows += _asset_parameters() + _older_parameters()
    own = [flag for flag in FLAGS if not flag.only or flag.only in to.flag_marks]
    for flag in own:
        rows += _flag_parameters(flag.key, flag.all_names, flag, flag.panel)
    rows += _gang_parameters() if to.is_gang else []
    return [*rows, *_refused_parameters(to)]


def _refused_parameters(to: Destination) -> Iterator[Parameter]:
    """Yield hidden parameters for the flags that workloads of ``to`` do not have: those that only
    Run:ai has, and those that only other workloads have."""
    for name, text in REFUSED.items():
        yield _refused_parameter(name, text, is_switch=name in REFUSED_SWITCHES)
    for flag in FLAGS:
        if flag.only and flag.only not in to.flag_marks:
            for name in flag.all_names:
                yield _refused_parameter(name, f"Only {OWNERS[flag.only]} have it.")
    if to.is_gang:
        return
    text = f"Only {OWNERS[GANG]} have a master."
    for name in (NO_MASTER, NO_CLAIMS_OF_MASTER):
        yield _refused_parameter(name, text, is_switch=True)
    for name in ("--master-command", "--master-set"):
        yield _refused_parameter(name, text)
    for flag in MASTER_FLAGS:
        for name in flag.master_names:
            yield _refused_parameter(name, text, is_switch=flag.kind.switch)


def _flag_parameters(key: str, names: list[str], flag: CliFlag, panel: str) -> Iterator[Parameter]:
    """Yield the parameter of a flag, and hidden ones for its other names and its negation. Help
    shows only one name of each flag."""
    kind = flag.kind
    long = next(it for it in names if it.startswith("--"))
    listed = [it for it in names if it == long or not it.startswith("--")]
    others = [it for it in names if it not in {*listed, ENVIRONMENT}]
    words = f" {kind.words.replace(',', ', ')}" if kind.words else ""
    annotation: Any = OPTIONAL_SWITCH if kind.switch else OPTIONAL_TEXT
    if kind.many:
        annotation = list[str]
    metavar = None if kind.switch else kind.metavar
    empty: list[str] | None = [] if kind.many else None
    option = _option(panel, *listed, text=flag.help + words, metavar=metavar)
    yield parameter(key, annotation, option, empty)
    if others:
        yield parameter(
            f"{key}{OTHER_SUFFIX}", annotation, typer.Option(*others, hidden=True), empty
        )
    if kind.switch:
        option = typer.Option(f"--no-{long[2:]}", hidden=True)
        yield parameter(f"{key}{NEGATED_SUFFIX}", OPTIONAL_SWITCH, option)


def read_typed(values: dict[str, Any], key: str) -> Any:
    """Return what was typed for a flag, by any of its names. ``None`` if nothing was."""
    if values.get(f"{key}{NEGATED_SUFFIX}"):
        return False
    value = values.get(key)
    other = values.get(f"{key}{OTHER_SUFFIX}")
    if isinstance(value, list):
        return [*value, *(other or [])]
    return other if value is None else value


def _refused_parameter(name: str, text: str, *, is_switch: bool = False) -> Parameter:
    """Return a hidden parameter for a flag that is not supported. Its use is an error with
    ``text``, which says what to use instead."""

    def refuse(value: str | bool | None) -> None:
        if value is not None and value != WITHOUT_EFFECT.get(name):
            raise typer.BadParameter(text)

    option = typer.Option(name, hidden=True, callback=refuse)
    annotation = OPTIONAL_SWITCH if is_switch else OPTIONAL_TEXT
    return parameter(f"refused_{name.lstrip('-').replace('-', '_')}", annotation, option)


def build_command(
    run: Callable[..., None], text: str, rows: list[Parameter]
) -> Callable[..., None]:
    """Return a command with the parameters in ``rows``, which calls ``run`` with what was typed."""

    def command(**values: Any) -> None:
        run(**{key: value for key, value in values.items() if not key.startswith("refused_")})

    command.__signature__ = inspect.Signature(rows)  # type: ignore[attr-defined]
    command.__annotations__ = {it.name: it.annotation for it in rows}
    command.__doc__ = text
    return command
