"""The permissions, and the roles that every installation has.

A permission is a resource and an action, such as ``workloads.read``. A role is a named set of them:
a row of :class:`accounts.models.AccessRole`. The rows of ``PREDEFINED_ROLES`` are stored after each
migration; administrators add others of their own.
"""

from collections.abc import Iterable
from dataclasses import dataclass

RESOURCES = {
    "users": ("read", "create", "update"),
    "groups": ("read", "create", "update", "delete"),
    "roles": ("read", "create", "update", "delete"),
    "access-rules": ("read", "create", "delete"),
    "service-accounts": ("read", "create", "update", "delete"),
    "audit": ("read",),
    "settings": ("read", "update"),
    "clusters": ("read", "create", "update", "delete"),
    "nodepools": ("create", "update", "delete"),  # to read a cluster is to read its pools
    "departments": ("read", "create", "update", "delete"),
    "projects": ("read", "create", "update", "delete"),
    "policies": ("read", "create", "update", "delete"),
    "environments": ("read", "create", "update", "delete"),
    "compute-resources": ("read", "create", "update", "delete"),
    "data-sources": ("read", "create", "update", "delete"),
    "credentials": ("read", "create", "update", "delete"),
    "templates": ("read", "create", "update", "delete"),
    "workloads": ("read", "create", "update", "delete"),
    "webhooks": ("read", "create", "update", "delete"),
}
#: What belongs to the account as a whole: a role in a narrower scope gives none of it.
ACCOUNT_RESOURCES = {"users", "groups", "roles", "service-accounts", "audit", "settings"}
PERMISSIONS = frozenset(
    f"{name}.{action}" for name, actions in RESOURCES.items() for action in actions
)


@dataclass(frozen=True)
class PermissionSet:
    """Permissions of one resource that belong together. Custom roles are unions of such sets."""

    id: str
    name: str
    permissions: frozenset[str]


def resource_label(resource: str) -> str:
    """Return the name of a resource for people."""
    return "node pools" if resource == "nodepools" else resource.replace("-", " ")


def _permission_sets() -> dict[str, PermissionSet]:
    """Return two sets for each resource, if it can be both read and changed: ``view`` and
    ``manage``."""
    sets = []
    for resource, actions in RESOURCES.items():
        noun = resource_label(resource)
        changes = [action for action in actions if action != "read"]
        if "read" in actions:
            reads = frozenset({f"{resource}.read"})
            sets.append(PermissionSet(f"view-{resource}", f"View {noun}", reads))
        if changes:
            every = frozenset(f"{resource}.{action}" for action in actions)
            sets.append(PermissionSet(f"manage-{resource}", f"Manage {noun}", every))
    return {it.id: it for it in sets}


PERMISSION_SETS = _permission_sets()


@dataclass(frozen=True)
class PredefinedRole:
    name: str
    description: str
    permissions: frozenset[str]


def _every(*resources: str) -> frozenset[str]:
    return frozenset(f"{name}.{action}" for name in resources for action in RESOURCES[name])


def _read(*resources: str) -> frozenset[str]:
    return frozenset(f"{name}.read" for name in resources)


_ASSETS = ("environments", "compute-resources", "data-sources", "credentials", "templates")
#: What researchers, managers and viewers see of their scope.
_AROUND = _read("clusters", "projects", "policies")


def _asset_administrator(name: str, resource: str) -> PredefinedRole:
    """Return the role that manages one kind of asset. It sees the other kinds, except
    credentials."""
    visible = {"clusters", "projects", "workloads", *_ASSETS} - {"credentials"}
    others = "workloads and other assets, except credentials"
    if resource == "credentials":
        others = "workloads and other assets"
    description = f"Manages {resource_label(resource)}, and sees {others}."
    return PredefinedRole(name, description, _read(*visible) | _every(resource))


#: The role of the first user.
ADMINISTRATOR = PredefinedRole("System administrator", "Sees and changes everything.", PERMISSIONS)
#: The role that the members of a project have.
RESEARCHER = PredefinedRole(
    "L1 researcher",
    "Submits workloads, and creates assets and webhooks.",
    _AROUND | _every(*_ASSETS, "workloads", "webhooks"),
)
#: Run:ai's roles, as far as Trainyard has what they are about.
PREDEFINED_ROLES = (
    ADMINISTRATOR,
    PredefinedRole(
        "Department administrator",
        "Manages a department: its quota, projects, members, policies, assets and workloads.",
        _AROUND
        | _read("departments")
        | {"departments.update"}
        | _every("access-rules", "projects", "policies", *_ASSETS, "workloads", "webhooks"),
    ),
    PredefinedRole(
        "Department viewer",
        "Sees a department with its projects, policies, assets and workloads.",
        _AROUND | _read("departments", *_ASSETS, "workloads"),
    ),
    PredefinedRole(
        "Editor",
        "Manages departments, projects, assets and workloads, but not who has access to them.",
        _AROUND | _every("departments", "projects", *_ASSETS, "workloads", "webhooks"),
    ),
    PredefinedRole(
        "Research manager",
        "Manages assets, and sees the workloads that use them.",
        _AROUND | _read("departments", "workloads") | _every(*_ASSETS),
    ),
    RESEARCHER,
    PredefinedRole(
        "L2 researcher",
        "Submits workloads with the assets of others.",
        _AROUND | _read(*_ASSETS) | _every("workloads", "webhooks"),
    ),
    PredefinedRole(
        "Viewer",
        "Sees projects, assets and workloads, and changes nothing.",
        _AROUND | _read("departments", *_ASSETS, "workloads"),
    ),
    _asset_administrator("Environment administrator", "environments"),
    _asset_administrator("Compute resource administrator", "compute-resources"),
    _asset_administrator("Data source administrator", "data-sources"),
    _asset_administrator("Credentials administrator", "credentials"),
    _asset_administrator("Template administrator", "templates"),
)


ACTION_WORDS = {"read": "view", "create": "create", "update": "edit", "delete": "delete"}


def permission_words(permissions: Iterable[str]) -> list[tuple[str, str]]:
    """Return the resources of these permissions, each with the actions in words: ``workloads``,
    ``view, create``. ``all`` stands forevery action of a resource that has several."""
    words = []
    names = set(permissions)
    for resource, actions in RESOURCES.items():
        permitted = [it for it in ACTION_WORDS if f"{resource}.{it}" in names]
        if permitted:
            is_all = len(permitted) == len(actions) > 1
            text = "all" if is_all else ", ".join(ACTION_WORDS[it] for it in permitted)
            words.append((resource_label(resource), text))
    return words
