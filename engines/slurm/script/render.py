"""Render the files of a run from its launch. Pure, and also used to preview unsaved drafts."""

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from engines.base import Launch
from engines.slurm.layout import SharedFolder
from engines.slurm.script import as_written, directives, sources
from engines.slurm.script.rank import containers
from engines.slurm.script.rank.variables import defaults, known_names, meeting, own
from engines.slurm.script.rank.words import line, word
from engines.slurm.script.shape import Tasks, has_launcher, script_of, tasks_of
from engines.slurm.script.site import SlurmSite
from engines.slurm.steps import COLUMNS, EVERY
from spec.workload import Pod, WorkloadSpec

HERE = Path(__file__).parent
BATCH = "batch.sh"
RANK = "rank.sh"
ENVIRONMENT = "environment.sh"
SETUP = "setup.sh"
OF_ONE_RANK = ("RANK", "LOCAL_RANK", "POD_NAME", "POD_INDEX", "NODE_NAME")
SHEBANG = "#!/bin/bash\n"


def files(launch: Launch, site: SlurmSite, *, shown: bool = False) -> dict[str, str]:
    """The files of a run by name. With ``shown`` they are for people, without secrets."""
    if script := script_of(launch.spec):
        return _as_written(launch, site, script, shown=shown)
    return {
        BATCH: batch(launch, site),
        RANK: rank(launch, site),
        ENVIRONMENT: environment(launch, site, shown=shown),
        **({SETUP: setup(launch, site)} if launch.spec.setup else {}),
        **sources.files(launch, site, shown=shown),
    }


def is_secret(name: str) -> bool:
    """Whether only the owner of the job should be able to read a file."""
    return name == ENVIRONMENT or name.startswith(f"{sources.KEYS}/")


def batch(launch: Launch, site: SlurmSite) -> str:
    """The batch script for Slurm."""
    folder = SharedFolder(site.directory, launch.handle.workload_id)
    spec = launch.spec
    own = as_written if script_of(spec) else directives
    asked = "".join(_directive(*option) for option in own.options(launch, site))
    values = {
        "RUN": folder.run(launch.run),
        "BELL": folder.bell,
        "GRACE": spec.termination_grace_period_seconds,
        "BACKOFF_LIMIT": spec.backoff_limit,
        "TIME_LIMIT": "" if script_of(spec) else directives.left(launch) or "",
    }
    said = "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in values.items())
    asked = as_written.asked(launch) + asked
    step = _step_of_script() if script_of(spec) else _steps(launch, site)
    bring = _text("bring.sh") if sources.sources(launch) else ""
    sample = _sample() if site.own_names else ""
    more = step + bring + sample + _text("batch.sh")
    return SHEBANG + asked + "\n" + said + "export BELL\n" + more


def _step_of_script() -> str:
    return as_written.STEP + _text("signals.sh")


def _sample() -> str:
    return _text("usage.sh").replace("COLUMNS", COLUMNS).replace("EVERY", f"{EVERY:g}")


def _directive(name: str, value: str) -> str:
    if name == directives.HETJOB:
        return f"#SBATCH {name}\n"
    return f"#SBATCH --{name}={_quoted(value)}\n" if value else f"#SBATCH --{name}\n"


def _steps(launch: Launch, site: SlurmSite) -> str:
    """Shell functions that start the ranks as tasks, or the launcher, which starts them itself.
    They use ``exec`` so that signals to the background process reach ``srun``."""
    spec = launch.spec
    words = _srun(spec, directives.of_step)
    if has_launcher(spec):
        slots = f"SLOTS={spec.slots_per_worker}\n"
        return f"tasks() {{ exec {words}; }}\n{slots}{_text('launcher.sh')}"
    inside = _srun(
        spec, lambda it: [*directives.of_step(it), *containers.of_step(launch, site, it)]
    )
    if not _is_addressed(spec):
        return f"step() {{ exec {inside}; }}\n"
    bare = 'step "$@"' if inside == words else f"exec {words}"
    return f"step() {{ exec {inside}; }}\nbare() {{ {bare}; }}\n{_text('addresses.sh')}"


def _srun(spec: WorkloadSpec, options: Callable[[Tasks], list[str]]) -> str:
    """A command line of ``srun`` that runs the tasks of all parts of the job as one step."""
    parts = [options(tasks) for tasks in tasks_of(spec)]
    if len(parts) > 1:
        parts = [[f"--het-group={group}", *words] for group, words in enumerate(parts)]
    return "srun " + " : ".join(f'{shlex.join(part)} "$@"' for part in parts)


def _is_addressed(spec: WorkloadSpec) -> bool:
    """Whether each rank needs the addresses of all ranks."""
    return "TF_CONFIG" in meeting(spec)


def _as_written(launch: Launch, site: SlurmSite, script: str, *, shown: bool) -> dict[str, str]:
    def around(name: str) -> str:
        return SHEBANG + as_written.start(launch, site, _text(name))

    return {
        BATCH: batch(launch, site),
        as_written.SCRIPT: script,
        as_written.START: around("start.sh"),
        RANK: around("task.sh"),
        ENVIRONMENT: as_written.environment(launch, site, shown=shown),
        **sources.files(launch, site, shown=shown),
    }


def rank(launch: Launch, site: SlurmSite) -> str:
    """The script of each rank, which runs prologue and command and writes its output to a file."""
    commands = _cases(launch, lambda pod: _command(launch, site, pod))
    prologue = site.prologue.replace("\r\n", "\n").strip()
    if containers.is_inside(launch, site):
        prologue = ""
    return "".join(
        [
            SHEBANG,
            "# Each task of the job is a rank, and runs this.\n",
            _text("rank.sh"),
            _pod_name(launch),
            _text("tensorflow.sh") if _is_addressed(launch.spec) else "",
            f". ./{ENVIRONMENT}\n",
            f"# What the administrators of the cluster want to be run first.\n{prologue}\n"
            if prologue
            else "",
            commands,
            _text("tail.sh"),
        ]
    )


def environment(launch: Launch, site: SlurmSite, *, shown: bool) -> str:
    """The file that sets the variables. They may be secrets, so only the owner can read it, and it
    is removed at the end."""
    platform = defaults(launch, site)
    met = meeting(launch.spec)
    first = "".join(f"export {name}={value}\n" for name, value in platform.items())
    users = _cases(
        launch,
        lambda pod: [
            f"export {name}={value}" for name, value in own(launch, site, pod, shown=shown)
        ],
    )
    last = "".join(f"export {name}={value}\n" for name, value in met.items())
    return first + users + last


def setup(launch: Launch, site: SlurmSite) -> str:
    return sources.placed("\n".join([*launch.spec.setup, ""]), launch, site)


def _command(launch: Launch, site: SlurmSite, pod: Pod) -> list[str]:
    replica = pod.replica
    names = known_names(launch, pod)
    given = (sources.placed(it or "", launch, site) for it in (replica.command, replica.args))
    words = " ".join(line(each, names) for each in given if each)
    own_folder = f"{SharedFolder(site.directory, launch.handle.workload_id).path}/ranks"
    place = sources.placed(replica.working_dir or "", launch, site)
    work = word(place) if place else f'{word(own_folder)}/"$RANK"'
    home = ['export HOME="$WORK"'] if replica.create_home_dir else []
    image = containers.before(launch, site, pod)
    home += [f"in_image=({image})"] if image else []
    making = [] if place else ['mkdir -p "$WORK"']
    # Programs that a launcher starts get their ranks from MPI.
    bare = f"unset {' '.join(OF_ONE_RANK)}; " if has_launcher(launch.spec) else ""
    return [f"WORK={work}", *making, *home, f'program() {{ {bare}exec "$@" {words}; }}']


def _pod_name(launch: Launch) -> str:
    name = word(launch.handle.name)
    if not launch.spec.has_master:
        return f'export POD_NAME={name}-worker-"$RANK"\n'
    return (
        f'if [ "$RANK" = 0 ]; then export POD_NAME={name}-master-0\n'
        f"else export POD_NAME={name}-worker-$((RANK - 1)); fi\n"
    )


def _cases(launch: Launch, lines: Callable[[Pod], list[str]]) -> str:
    """Shell lines for master and workers, without a condition if they are the same for both."""
    pods = launch.spec.pods
    first = lines(pods[0])
    last = lines(pods[-1])
    if first == last:
        return "".join(f"{each}\n" for each in first)
    head, rest = ("".join(f"  {each}\n" for each in part) or "  :\n" for part in (first, last))
    return f'if [ "$RANK" = 0 ]; then\n{head}else\n{rest}fi\n'


def _quoted(value: str) -> str:
    """The value as Slurm reads it: one word, in double quotes if it has special characters."""
    if value and all(c.isalnum() or c in "-_./:,=&|%+@" for c in value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(name: str) -> str:
    return (HERE / name).read_text()


def manifests(launch: Launch, site: SlurmSite) -> Iterator[dict[str, str]]:
    """The files as documents, for people to read."""
    for name, text in files(launch, site, shown=True).items():
        yield {"kind": "File", "name": name, "text": text}
