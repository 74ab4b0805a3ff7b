"""Who may go into a running workload: terminals, programs, forwarded ports and tools all ask here.

Inside, the values that a workload started with can be read. So while it uses credentials that
belong to its author alone, it is closed to everyone else, administrators included.
"""

from accounts import access
from accounts.models import User
from assets.credential.kind import CREDENTIAL
from assets.models import Credential
from workloads.models import Workload

READ = "assets.read"  # without which a program does not use its owner's own credentials either


def why_kept_out(workload: Workload, user: User) -> str:
    """Why ``user`` may not go in, whatever else they may do with the workload; empty where nothing
    keeps them out."""
    is_author = workload.created_by_id == user.pk
    if (is_author and access.may_own(user, READ)) or not is_private(workload):
        return ""
    if is_author:
        return access.missing(READ, user)
    author = workload.created_by.username if workload.created_by else ""
    whose = f"belong to {author} alone" if author else "belonged to a user who no longer exists"
    ask = f"Ask {author}, or copy" if author else "Copy"
    return (
        f"{workload.name} uses credentials that {whose}, and whoever is inside could read their "
        f"values. {ask} the workload and choose credentials of the project."
    )


def is_private(workload: Workload) -> bool:
    """Whether it uses credentials of its author's own. One that no longer exists was someone's own,
    whose account was deleted: a shared one stays for as long as workloads use it."""
    links = workload.assets.filter(kind=CREDENTIAL.slug)
    used = set(links.values_list("asset_id", flat=True))
    return bool(used) and Credential.objects.shared().filter(pk__in=used).count() < len(used)
