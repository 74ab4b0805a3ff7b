"""Policies for tests, in Run:ai's form."""

from typing import Any

from accounts.models import User
from policies.models import Policy
from policies.services import save_policy
from projects.models import Department, Project
from projects.scopes import OwningScope
from spec.kind import WorkloadKind
from tests.factories import UserFactory

Tree = dict[str, Any]

#: Every kind of entry that a policy of a distributed training has.
EVERYTHING: Tree = {
    "defaults": {
        "worker": {
            "imagePullPolicy": "IfNotPresent",
            "environmentVariables": {
                "instances": [{"name": "NCCL_DEBUG", "value": "WARN", "description": "How much"}]
            },
            "compute": {"cpuMemoryLimit": "32G"},
            "tolerations": {"attributes": {"effect": "NoSchedule"}},
            "backoffLimit": 2,
        },
        "master": {"backoffLimit": 3, "nodeType": "cpu"},
    },
    "rules": {
        "worker": {
            "compute": {
                "gpuDevicesRequest": {
                    "min": 1,
                    "max": 8,
                    "allowOverride": True,
                    "why": "A node has 8",
                },
                "cpuMemoryRequest": {
                    "required": True,
                    "max": "64G",
                    "defaultFrom": {"field": "compute.cpuMemoryLimit", "factor": 0.5},
                },
            },
            "image": {"options": [{"value": "reg/torch:2.5", "displayed": "Torch 2.5"}]},
            "environmentVariables": {"instances": {"canAdd": False, "locked": ["NCCL_DEBUG"]}},
            "numWorkers": {"step": 2},
            "storage": {"pvc": {"attributes": {"claimInfo": {"size": {"required": True}}}}},
        },
        "master": {
            "security": {"runAsUid": {"min": 1000}, "allowPrivilegeEscalation": {"canEdit": False}},
            "storage": {"hostPath": {"instances": {"canAdd": False}}},
        },
    },
    "imposedAssets": {"worker": ["6f8c1c9a-0d0e-4c3f-9a55-3b1d7a1f3f10"]},
}


def rule(name: str, **limits: Any) -> Tree:
    """Return a policy of a distributed training with one rule for the workers."""
    return {"rules": {"worker": nest(name, limits)}}


def default(name: str, value: Any) -> Tree:
    """Return a policy of a distributed training with one default for the workers."""
    return {"defaults": {"worker": nest(name, value)}}


def nest(name: str, value: Any) -> Tree:
    """Return a tree with a value at a dotted name."""
    for key in reversed(name.split(".")):
        value = {key: value}
    return dict(value)


def make_policy(
    holder: Project | Department | None,
    tree: Tree,
    *,
    name: str = "limits",
    kind: WorkloadKind = WorkloadKind.DISTRIBUTED,
    by: User | None = None,
) -> Policy:
    """Save the policy of a project or department, or that of the account."""
    by = by or UserFactory(administrator=True)
    scope = OwningScope(holder)
    return save_policy(by=by, scope=scope, kind=kind, name=name, tree=tree, confirmed=True)
