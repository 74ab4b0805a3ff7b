"""What can be done, and to what. The words of the audit log, by which it is filtered. Entries keep
their words for good, so none is removed here that was ever used."""

from typing import Literal, get_args

Verb = Literal[
    "activate",
    "add",
    "approve",
    "change password",
    "copy",
    "create",
    "deactivate",
    "delete",
    "deny",
    "forward a port of",
    "open terminal",
    "purge",
    "remove",
    "renew secret",
    "renew the secret of",
    "resend",
    "reset password",
    "run",
    "sign in",
    "sign out",
    "stop",
    "test",
    "update",
]
VERBS: tuple[str, ...] = get_args(Verb)
#: The names of the models whose objects people do something to.
KINDS = (
    "access key",
    "cluster",
    "compute resource",
    "connection test",
    "credential",
    "data source",
    "department",
    "environment",
    "general settings",
    "group",
    "node pool",
    "project",
    "rank",
    "sign-in by code",
    "template",
    "user",
    "webhook",
    "workload",
)
COMMAND_LINE = "Command line"  # who does what nobody is signed in for
#: Run:ai's action for each of our verbs. All other verbs are an update.
ACTIONS = {it.replace("-", " "): it for it in ("create", "delete", "sign-in", "sign-out")}
ACTIONS |= {"reset password": "reset-password"}
UPDATE = "update"
