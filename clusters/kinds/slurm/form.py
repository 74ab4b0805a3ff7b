"""The form of a Slurm cluster."""

from clusters.kinds.form import ConnectionForm
from clusters.kinds.slurm.settings import Containers, RunAs, SlurmSecret
from core.forms.field import Field, Input
from core.forms.form import collect_errors

KEY_HINT = "Leave empty to use the one you just entered, which is stored encrypted for an hour."


class SlurmForm(ConnectionForm):
    FIELDS = (
        Field(
            "host",
            "Login node",
            hint="Leave empty if Slurm's commands run on this host.",
            placeholder="login.example.com",
            literal=True,
        ),
        Field("user", "User", hint="Trainyard signs in as this user.", literal=True),
        Field("port", "SSH port", placeholder="22", literal=True),
        Field(
            "private_key",
            "SSH private key",
            Input.SECRET_LINES,
            hint="It is stored encrypted and never shown again. Leave empty to use the keys of the "
            "user that Trainyard runs as.",
        ),
        Field(
            "known_hosts",
            "Known hosts",
            Input.LINES,
            hint="Lines as ssh-keyscan prints them for the login node. Without any, the first key "
            "that it shows is trusted.",
            placeholder="login.example.com ssh-ed25519 AAAA…",
            literal=True,
        ),
        Field(
            "directory",
            "Shared directory",
            hint="For scripts, logs and checkpoints, at one path on the login node and all nodes.",
            placeholder="/home/trainyard/workloads",
            required=True,
            literal=True,
        ),
        Field("partition", "Partition", hint="Leave empty to use Slurm's default.", literal=True),
        Field("account", "Account", hint="Leave empty to use the user's default.", literal=True),
        Field(
            "accounts",
            "Accounts of projects",
            Input.LINES,
            hint="A project and the account that its jobs are charged to, one a line. Other "
            "projects have the account above.",
            placeholder="vision account-a\nspeech account-b",
            literal=True,
        ),
        Field(
            "run_as",
            "Jobs run as",
            Input.SELECT,
            options=(
                (RunAs.SERVICE, "The user above"),
                (RunAs.PEOPLE, "The people who submit them, with their own SSH keys"),
            ),
            hint="With their own keys people keep their own names, accounts and files on the "
            "cluster, and the user above only watches.",
        ),
        Field(
            "users",
            "Users of the cluster",
            Input.LINES,
            hint="Only where people have their own keys: a user of Trainyard and that person's "
            "name on the cluster, one a line. The others have the same name in both.",
            placeholder="ada@example.com alovelace",
            literal=True,
        ),
        Field(
            "prologue",
            "Prologue",
            Input.LINES,
            hint="Lines of shell that each rank runs before its command.",
            placeholder="module load cuda\nsource /opt/venv/bin/activate",
            literal=True,
        ),
        Field(
            "containers",
            "Containers",
            Input.SELECT,
            options=(
                (Containers.DISCOVERED, "What the login node has"),
                (Containers.PYXIS, "pyxis, a plugin of Slurm"),
                (Containers.APPTAINER, "apptainer"),
                (Containers.SINGULARITY, "singularity"),
                (Containers.NONE, "None: ranks run the programs of the nodes"),
            ),
            hint="What starts the images of workloads.",
        ),
        Field(
            "programs",
            "Slurm's programs",
            hint="The folder of sbatch, if it is not found without.",
            placeholder="/opt/slurm/bin",
            literal=True,
        ),
        Field(
            "slurm_conf",
            "Slurm's configuration",
            hint="The path of slurm.conf, if it is not at its usual place.",
            placeholder="/etc/slurm/slurm.conf",
            literal=True,
        ),
    )

    @property
    def key_hint(self) -> str:
        secret = self.test.secret if self.test else None
        return KEY_HINT if isinstance(secret, SlurmSecret) and secret.private_key else ""

    def check_secret(self) -> None:
        with collect_errors(self):
            SlurmSecret.from_text(self.text("private_key").strip())

    def posted_secret(self) -> SlurmSecret | None:
        text = "" if self["private_key"].errors else self.text("private_key").strip()
        return SlurmSecret.from_text(text)
