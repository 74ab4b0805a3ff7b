"""The part of a REST request that describes the connection to a Slurm cluster."""

from pydantic import Field, SecretStr

from clusters.kinds.slurm.settings import SlurmSecret
from clusters.kinds.wire import Connecting, tidy_text

LARGEST = 16 * 1024


class SlurmConnecting(Connecting):
    """How to reach a cluster: a login node with the private key of a user there, or, without a
    ``host``, the commands of Slurm on Trainyard's own host."""

    host: str = ""
    user: str = ""
    port: str = ""
    private_key: SecretStr = Field(
        SecretStr(""),
        max_length=LARGEST,
        description="Slurm: the SSH private key of the user; stored encrypted, never returned",
    )
    known_hosts: str = ""
    directory: str = ""
    account: str = ""
    accounts: str = ""
    partition: str = ""
    prologue: str = ""
    containers: str = ""
    run_as: str = ""
    users: str = ""
    programs: str = ""
    slurm_conf: str = ""

    def secret(self, *, editing: bool) -> SlurmSecret | None:
        secret = SlurmSecret.from_text(tidy_text(self.private_key))
        if secret is None and not editing:
            return SlurmSecret()
        return secret
