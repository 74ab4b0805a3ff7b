"""Names on clusters: valid there, and free of collisions."""

import re
from uuid import UUID

#: DNS-1035 label: Kubernetes names a service for each rank after its workload.
NAME = re.compile(r"^[a-z]([-a-z0-9]*[a-z0-9])?$")
LONGEST = 63
NAME_RULE = (
    "must start with a letter, end with a letter or digit, and contain only lower-case letters, "
    "digits and hyphens"
)


def check_name(name: str, *, workers: int = 1) -> str:
    """Return the name; ``ValueError`` if ``<name>-worker-<n>`` is not a DNS label."""
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} {NAME_RULE}" if name else "is required")
    room = longest_name(workers)
    if len(name) > room:
        raise ValueError(f"is {len(name)} characters long; at most {room} leave room for -worker-N")
    return name


def longest_name(workers: int) -> int:
    """Return how many characters a name may have, so that ``<name>-worker-<n>`` is a DNS label."""
    return LONGEST - len(f"-worker-{max(workers - 1, 0)}")


def object_name(name: str, uid: UUID) -> str:
    """A DNS label for manifests: a readable head and a unique tail."""
    head = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].rstrip("-") or "w"
    return f"{head}-{uid.hex[:8]}"
