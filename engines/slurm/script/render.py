"""Renders the files of a run from its launch. Pure, because it also previews unsaved drafts."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, groupby
from pathlib import Path

from engines.base import Launch
from engines.slurm.layout import SharedFolder
from engines.slurm.script import as_written, directives, sources
from engines.slurm.script.rank import containers, volumes
from engines.slurm.script.rank.variables import (
    known_names,
    platform_variables,
    rendezvous_variables,
    user_variables,
)
from engines.slurm.script.rank.words import quote_line, quote_word
from engines.slurm.script.shape import Tasks, group_tasks, has_launcher, script_text
from engines.slurm.script.site import SlurmSite
from engines.slurm.steps import COLUMNS, SAMPLE_SECONDS
from spec.workload import Pod, WorkloadSpec

FOLDER = Path(__file__).parent
BATCH = "batch.sh"
RANK = "rank.sh"
ENVIRONMENT = "environment.sh"
SETUP = "setup.sh"
RANK_VARIABLES = ("RANK", "LOCAL_RANK", "POD_NAME", "POD_INDEX", "NODE_NAME")
SHEBANG = "#!/bin/bash\n"


def render_files(launch: Launch, site: SlurmSite, *, masked: bool = False) -> dict[str, str]:
    """Return the files of a run by name. With ``masked``, they contain no secrets."""
    if script := script_text(launch.spec):
        return _render_as_written(launch, site, script, masked=masked)
    return {
        BATCH: render_batch(launch, site),
        RANK: render_rank(launch, site),
        ENVIRONMENT: render_environment(launch, site, masked=masked),
        **({SETUP: render_setup(launch, site)} if launch.spec.setup else {}),
        **volumes.file_texts(launch, masked=masked),
        **sources.fetch_files(launch, site, masked=masked),
    }


def is_secret(name: str) -> bool:
    """Whether only the owner of the job should be able to read a file."""
    return name == ENVIRONMENT or name.startswith((f"{sources.KEYS}/", f"{volumes.FILES}/"))


def render_batch(launch: Launch, site: SlurmSite) -> str:
    """Return the batch script for Slurm."""
    folder = SharedFolder(site.directory, launch.handle.workload_id)
    spec = launch.spec
    if script_text(spec):
        lines = as_written.directive_lines(launch, site)
    else:
        options = directives.options(launch, site)
        lines = (directives.directive_line(name, value) for name, value in options)
    values = {
        "RUN": folder.run(launch.run),
        "BELL": folder.bell,
        "GRACE": spec.termination_grace_period_seconds,
        "BACKOFF_LIMIT": spec.backoff_limit,
        "TIME_LIMIT": "" if script_text(spec) else directives.seconds_left(launch) or "",
    }
    assignments = "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in values.items())
    step = _step_of_script() if script_text(spec) else _step_functions(launch, site)
    bring = _read("bring.sh") if sources.fetched_sources(launch) else ""
    sample = _usage_functions() if site.own_names else ""
    follow = _read("lead.sh") if spec.roles else ""
    functions = step + bring + sample + follow + _read("batch.sh")
    directive_lines = "".join(f"{line}\n" for line in lines)
    return SHEBANG + directive_lines + "\n" + assignments + "export BELL\n" + functions


def _step_of_script() -> str:
    return as_written.STEP + _read("signals.sh")


def _usage_functions() -> str:
    return _read("usage.sh").replace("COLUMNS", COLUMNS).replace("EVERY", f"{SAMPLE_SECONDS:g}")


def _step_functions(launch: Launch, site: SlurmSite) -> str:
    """Return shell functions that start the ranks as tasks, or the launcher, which starts the
    ranks. They use ``exec`` so that signals to the background process reach ``srun``."""
    spec = launch.spec
    words = _srun_line(spec, directives.step_options)
    if has_launcher(spec):
        slots = f"SLOTS={spec.slots_per_worker}\n"
        return f"tasks() {{ exec {words}; }}\n{slots}{_read('launcher.sh')}"
    inside = _srun_line(
        spec, lambda it: [*directives.step_options(it), *containers.step_options(launch, site, it)]
    )
    if not _is_addressed(spec):
        return f"step() {{ exec {inside}; }}\n"
    bare = 'step "$@"' if inside == words else f"exec {words}"
    return f"step() {{ exec {inside}; }}\nbare() {{ {bare}; }}\n{_read('addresses.sh')}"


def _srun_line(spec: WorkloadSpec, options: Callable[[Tasks], list[str]]) -> str:
    """Return a command line of ``srun`` that runs the tasks of all parts of the job as one step."""
    parts = [options(tasks) for tasks in group_tasks(spec)]
    if len(parts) > 1:
        parts = [[f"--het-group={group}", *words] for group, words in enumerate(parts)]
    return "srun " + " : ".join(f'{shlex.join(part)} "$@"' for part in parts)


def _is_addressed(spec: WorkloadSpec) -> bool:
    """Whether each rank needs the addresses of all ranks."""
    return bool(spec.roles) or "TF_CONFIG" in rendezvous_variables(spec)


def _render_as_written(
    launch: Launch, site: SlurmSite, script: str, *, masked: bool
) -> dict[str, str]:
    def around(name: str) -> str:
        return SHEBANG + as_written.start_script(launch, site, _read(name))

    return {
        BATCH: render_batch(launch, site),
        as_written.SCRIPT: script,
        as_written.START: around("start.sh"),
        as_written.SRUN: SHEBANG + _read("srun.sh"),
        as_written.KEEP: SHEBANG + _read("keep.sh"),
        RANK: around("task.sh"),
        ENVIRONMENT: as_written.environment(launch, site, masked=masked),
        **sources.fetch_files(launch, site, masked=masked),
    }


def render_rank(launch: Launch, site: SlurmSite) -> str:
    """Return the script of each rank, which runs prologue and command, and writes their output to a
    file."""
    commands = _by_role(launch, lambda pod: _command(launch, site, pod))
    prologue = site.prologue.replace("\r\n", "\n").strip()
    if containers.runs_in_image(launch, site):
        prologue = ""
    return "".join(
        [
            SHEBANG,
            "# Each task of the job is a rank, and runs this.\n",
            _read("rank.sh"),
            _pod_name(launch),
            _read("tensorflow.sh") if "TF_CONFIG" in rendezvous_variables(launch.spec) else "",
            f". ./{ENVIRONMENT}\n",
            f"# What the administrators of the cluster want to be run first.\n{prologue}\n"
            if prologue
            else "",
            _rank_variables(launch.spec),
            _host_names(launch.spec),
            commands,
            _read("tail.sh"),
        ]
    )


def _rank_variables(spec: WorkloadSpec) -> str:
    """Return the variables of the script itself, which come after those of the user."""
    lead = next((pod.rank for pod in spec.pods if pod.leads), "") if spec.roles else ""
    only_lead = "yes" if spec.ignore_non_lead_status else ""
    own = "${place%/*}/.${place##*/}"
    return f"run=$PWD own={own} inside=() lead={lead} only_lead={only_lead}\n"


def _host_names(spec: WorkloadSpec) -> str:
    """Return the lines that write a file with the host names of all ranks; empty if they have
    none."""
    if not spec.roles:
        return ""
    names = "".join(f"{pod.name}{f' {pod.role}' if pod.index == 0 else ''}\n" for pod in spec.pods)
    return f"{_read('hosts.sh')}{names}END\n"


def render_environment(launch: Launch, site: SlurmSite, *, masked: bool) -> str:
    """Return the file that sets the variables. They may be secrets, so only its owner can read it,
    and it is removed at the end."""
    platform = platform_variables(launch, site)
    rendezvous = rendezvous_variables(launch.spec)
    first = "".join(f"export {name}={value}\n" for name, value in platform.items())
    users = _by_role(
        launch,
        lambda pod: [
            f"export {name}={value}"
            for name, value in user_variables(launch, site, pod, masked=masked)
        ],
    )
    last = "".join(f"export {name}={value}\n" for name, value in rendezvous.items())
    return first + users + last


def render_setup(launch: Launch, site: SlurmSite) -> str:
    return sources.replace_paths("\n".join([*launch.spec.setup, ""]), launch, site)


def _command(launch: Launch, site: SlurmSite, pod: Pod) -> list[str]:
    replica = pod.replica
    names = known_names(launch, pod)
    texts = (
        sources.replace_paths(it or "", launch, site) for it in (replica.command, replica.args)
    )
    words = " ".join(quote_line(each, names) for each in texts if each)
    own_folder = f"{SharedFolder(site.directory, launch.handle.workload_id).path}/ranks"
    folder = sources.replace_paths(replica.working_dir or "", launch, site)
    work = quote_word(folder) if folder else f'{quote_word(own_folder)}/"$RANK"'
    home = ['export HOME="$WORK"'] if replica.create_home_dir else []
    image = containers.image_prefix(launch, site, pod)
    mounted = volumes.mounts_of(launch, site, pod, in_image=bool(image))
    home += volumes.preparing_lines(mounted)
    if image:
        home.append(f"inside=({image})")
    elif mounted:
        home += [*_read("mounts.sh").splitlines(), f"inside=({volumes.program_words(mounted)})"]
    create_folder = [] if folder else ['mkdir -p "$WORK"']
    # Programs that a launcher starts get their ranks from MPI.
    bare = f"unset {' '.join(RANK_VARIABLES)}; " if has_launcher(launch.spec) else ""
    return [f"WORK={work}", *create_folder, *home, f'program() {{ {bare}exec "$@" {words}; }}']


def _pod_name(launch: Launch) -> str:
    name = quote_word(launch.handle.name)
    lines = []
    first = 0
    for role in launch.spec.gang_roles:
        index = f"$((RANK - {first}))" if first else '"$RANK"'
        lines.append([f"export POD_NAME={name}-{role.name}-{index}"])
        first += role.count
    return _choose(launch.spec, lines)


def _by_role(launch: Launch, lines: Callable[[Pod], list[str]]) -> str:
    """Return shell lines for the ranks of each role."""
    firsts = (pod for pod in launch.spec.pods if pod.index == 0)
    return _choose(launch.spec, [lines(pod) for pod in firsts])


def _choose(spec: WorkloadSpec, lines_of_roles: Sequence[list[str]]) -> str:
    """Return shell lines that depend on the role of the rank, without a condition if all roles have
    the same."""
    ends = accumulate(role.count for role in spec.gang_roles)
    rows = groupby(zip(ends, lines_of_roles, strict=True), key=lambda row: row[1])
    blocks = [(lines, max(end for end, _ in row)) for lines, row in rows]
    if len(blocks) == 1:
        return "".join(f"{line}\n" for line in blocks[0][0])
    word = "if"
    text = ""
    for lines, end in blocks[:-1]:
        text += f'{word} [ "$RANK" -lt {end} ]; then\n{_indented(lines)}'
        word = "elif"
    return f"{text}else\n{_indented(blocks[-1][0])}fi\n"


def _indented(lines: Sequence[str]) -> str:
    return "".join(f"  {line}\n" for line in lines) or "  :\n"


def _read(name: str) -> str:
    return (FOLDER / name).read_text()


def manifests(launch: Launch, site: SlurmSite) -> Iterator[dict[str, str]]:
    """Yield the files as documents, for people to read."""
    for name, text in render_files(launch, site, masked=True).items():
        yield {"kind": "File", "name": name, "text": text}
