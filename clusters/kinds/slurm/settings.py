"""Administrators' settings of a Slurm cluster."""

from enum import StrEnum
from typing import Annotated, Self

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, RegexValidator
from pydantic import Field, ValidationInfo, field_validator

from clusters.kinds.base import ConnectionSecret, ConnectionSettings, rules
from engines.slurm.client.ssh import Login
from engines.slurm.client.transport import SlurmPrograms
from engines.slurm.script.site import APPTAINER, NO_CONTAINERS, PYXIS, SINGULARITY, SlurmSite

NO_KEY = "This is not a private key. Paste the whole file, with its lines BEGIN and END."
PROTECTED = "This key has a passphrase, which nobody could type. Use one without."
host_rule = RegexValidator(
    r"^[A-Za-z0-9]([-A-Za-z0-9.:]*[A-Za-z0-9])?\Z",
    "Write the name or the address of a host, such as login.example.com.",
)
user_rule = RegexValidator(r"^[a-z_][-a-z0-9_.]*\Z", "Write the name of a user of the login node.")
port_rule = RegexValidator(r"^[1-9][0-9]{0,4}\Z", "Write a number from 1 to 65535.")
name_rule = RegexValidator(
    r"^[A-Za-z0-9_][-A-Za-z0-9_.]*\Z", "Use letters, digits, hyphens, underscores and dots."
)
path_rule = RegexValidator(
    r"^/[-A-Za-z0-9_.+/]+\Z",
    "Write a full path, such as /home/trainyard/workloads, of letters, digits and - _ . +",
)
Host = Annotated[str, rules(MaxLengthValidator(253), host_rule)]
LoginUser = Annotated[str, rules(MaxLengthValidator(64), user_rule)]
Port = Annotated[str, rules(port_rule)]
SlurmName = Annotated[str, rules(MaxLengthValidator(63), name_rule)]
PathOfSite = Annotated[str, rules(MaxLengthValidator(200), path_rule)]
SharedPath = Annotated[str, rules(MaxLengthValidator(200), path_rule, required=True)]
Lines = Annotated[str, rules(MaxLengthValidator(20_000))]


def accounts_rule(text: str) -> None:
    """Raise ``ValidationError`` if a line is not a project and an account, or a project occurs
    twice."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    for row in rows:
        if len(row) != 2:
            line = " ".join(row)
            raise ValidationError(f"Write a project and an account on each line, not {line!r}.")
    for _, account in rows:
        name_rule(account)
    names = [project for project, _ in rows]
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise ValidationError(f"A project has one account; {', '.join(duplicates)} has more.")


def users_rule(text: str) -> None:
    """Raise ``ValidationError`` if a line is not a user of Trainyard and one of the cluster."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    for row in rows:
        if len(row) != 2:
            line = " ".join(row)
            raise ValidationError(
                f"Write a user of Trainyard and one of the cluster on each line, not {line!r}."
            )
        user_rule(row[1])


Users = Annotated[str, rules(MaxLengthValidator(20_000), users_rule)]
ProjectAccounts = Annotated[str, rules(MaxLengthValidator(20_000), accounts_rule)]


class RunAs(StrEnum):
    """The users under whom jobs run on the cluster."""

    SERVICE = ""  # the connection's user
    PEOPLE = "people"


class Containers(StrEnum):
    """The container runtime that starts images."""

    DISCOVERED = ""  # whatever the login node has
    PYXIS = PYXIS
    APPTAINER = APPTAINER
    SINGULARITY = SINGULARITY
    NONE = NO_CONTAINERS


class SlurmSettings(ConnectionSettings):
    """The settings. An empty ``host`` means that Slurm's commands run on Trainyard's own host.
    ``programs`` and ``slurm_conf`` are only needed if they are not at their usual paths."""

    host: Host = Field(
        "",
        description="Slurm: the login node; empty if Slurm's commands run on Trainyard's own host",
    )
    user: LoginUser = Field(
        "", description="Slurm: the user of the login node that all jobs run as"
    )
    port: Port = Field("", description="Slurm: the SSH port of the login node")
    known_hosts: Lines = Field("", description="Slurm: lines of known_hosts for the login node")
    directory: SharedPath = Field(
        "/shared/trainyard",
        description="Slurm: the shared directory for scripts, logs and checkpoints",
    )
    account: SlurmName = Field(
        "", description="Slurm: the account of all jobs; empty for the user's default"
    )
    accounts: ProjectAccounts = Field(
        "", description="Slurm: a project and the account of its jobs on each line"
    )
    partition: SlurmName = Field(
        "", description="Slurm: the partition of all jobs; empty for the default"
    )
    prologue: Lines = Field(
        "", description="Slurm: lines of shell that each rank runs before its command"
    )
    containers: Containers = Field(
        Containers.DISCOVERED,
        description=(
            "Slurm: what runs images: pyxis, apptainer, singularity or none; empty for what the "
            "login node has"
        ),
    )
    run_as: RunAs = Field(
        RunAs.SERVICE,
        description=(
            "Slurm: people if jobs run under people's own names; empty for the user of the "
            "connection"
        ),
    )
    users: Users = Field(
        "",
        description=(
            "Slurm: on each line a user of Trainyard and the user of the cluster that runs their "
            "jobs"
        ),
    )
    programs: PathOfSite = Field(
        "", description="Slurm: the folder of sbatch, if it is not on the PATH"
    )
    slurm_conf: PathOfSite = Field(
        "", description="Slurm: the path of slurm.conf, if it is not at its usual place"
    )

    @field_validator("run_as")
    @classmethod
    def _require_login_node(cls, run_as: RunAs, info: ValidationInfo) -> RunAs:
        if run_as is RunAs.PEOPLE and not info.data.get("host"):
            raise ValueError("People sign in to a login node with their own keys; enter one.")
        return run_as

    def login_name(self, username: str) -> str:
        """Return a user's name on the cluster; empty if all jobs run as one user."""
        if self.run_as is RunAs.SERVICE:
            return ""
        rows = dict(line.split() for line in self.users.splitlines() if line.strip())
        return rows.get(username, username)

    @property
    def site(self) -> SlurmSite:
        rows = (line.split() for line in self.accounts.splitlines())
        accounts = {row[0]: row[1] for row in rows if len(row) == 2}
        return SlurmSite(
            self.directory.rstrip("/"),
            self.account,
            self.partition,
            self.prologue,
            accounts,
            self.run_as is RunAs.PEOPLE,
            str(self.containers),
        )

    @property
    def slurm_programs(self) -> SlurmPrograms:
        return SlurmPrograms(self.programs, self.slurm_conf)

    def login(self, key: str) -> Login:
        port = int(self.port or 0)
        hosts = self.known_hosts.replace("\r\n", "\n")
        return Login(self.host, self.user, port, key, hosts)


class SlurmSecret(ConnectionSecret):
    private_key: str = ""  # empty: the keys of this server's own user

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        """Return the secret with the private key in ``text``; ``None`` if it is empty.
        ``ValidationError`` if the key cannot be used."""
        if text and not ("BEGIN" in text and "PRIVATE KEY" in text and "END" in text):
            raise ValidationError({"private_key": NO_KEY})
        if "ENCRYPTED" in text:
            raise ValidationError({"private_key": PROTECTED})
        return cls(private_key=text) if text else None
