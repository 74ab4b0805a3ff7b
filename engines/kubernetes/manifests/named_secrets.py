"""Find Secrets of other workloads that a spec names, whose values its pods would read.

Only the form of a name tells that a Secret is a workload's. The database may not know all workloads
of a cluster: after a backup is restored, it lacks those that were submitted later.
"""

import re
from collections.abc import Iterator

from engines.base import Launch
from spec.problems.errors import Problem, parse_path
from spec.workload import Replica

#: Ends of the names of what belongs to one workload: its values, what it pulls images with, and
#: the key that the MPI operator creates for it.
WORKLOAD_SECRET = re.compile(r"-[0-9a-f]{8}-(env|pull|ssh)$")
WHY = (
    "has the form of the name of a workload's own Secret (…-<8 hex digits>-env, -pull or -ssh), "
    "which is for that workload alone; name another, or choose a credential"
)


def complaints(launch: Launch) -> Iterator[Problem]:
    spec = launch.spec
    for role in spec.described_roles:
        for place, name in _secret_references(role.replica):
            if name and WORKLOAD_SECRET.search(name):
                yield Problem(parse_path(f"{role.path}.{place}"), f"{name!r} {WHY}")
    for registry in launch.registries:
        if WORKLOAD_SECRET.search(registry.existing_secret):
            text = f"{registry.host}: {registry.existing_secret!r} {WHY}"
            yield Problem(parse_path("worker.imagePullSecrets"), text)


def _secret_references(replica: Replica) -> Iterator[tuple[str, str | None]]:
    """Where a Secret is named, and its name."""
    for number, variable in enumerate(replica.environment_variables):
        if variable.secret:
            yield f"environmentVariables[{number}].secret.name", variable.secret.name
    for number, volume in enumerate(replica.storage.secret_volume):
        yield f"storage.secretVolume[{number}].secret", volume.secret
    for number, git in enumerate(replica.storage.git):
        if git.secret_ref:
            yield f"storage.git[{number}].secretRef.name", git.secret_ref.name
    for number, s3 in enumerate(replica.storage.s3):
        yield f"storage.s3[{number}].accessKeySecret", s3.access_key_secret
    for number, pull in enumerate(replica.image_pull_secrets):
        if not pull.credential:
            yield f"imagePullSecrets[{number}].name", pull.name
