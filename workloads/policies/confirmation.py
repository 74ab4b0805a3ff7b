"""Ask for a confirmation before a policy is saved that refuses all of the last workloads."""

from typing import Any

from accounts.models import User
from policies.models import Policy
from policies.saving import NeedsConfirmation, before_save
from workloads.policies.simulation import MOST_WORKLOADS, refuses_everything

REFUSES_EVERYTHING = (
    f"This policy refuses all of the last workloads of its scope (at most {MOST_WORKLOADS} are "
    "looked at)."
)


def require_confirmation(policy: Policy, by: User, **_: Any) -> None:
    """Raise ``NeedsConfirmation`` if the policy refuses everything."""
    if refuses_everything(policy, by=by):
        raise NeedsConfirmation(REFUSES_EVERYTHING)


def connect() -> None:
    before_save.connect(require_confirmation, dispatch_uid="refuses everything")
