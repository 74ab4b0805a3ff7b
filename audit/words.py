"""The words of the audit log: the actions and the kinds of objects, by which entries are filtered.
Stored entries keep their words, so a word that was used once stays here."""

from typing import Literal, get_args

Verb = Literal[
    "activate",
    "add",
    "approve",
    "attempt",
    "cancel",
    "change password",
    "copy",
    "create",
    "deactivate",
    "delete",
    "deny",
    "extend",
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
#: The names of the models whose objects users act on.
KINDS = (
    "access key",
    "access rule",
    "cluster",
    "compute resource",
    "connection test",
    "credential",
    "data source",
    "dataset version",
    "department",
    "environment",
    "general settings",
    "group",
    "mail server",
    "node pool",
    "policy",
    "pool",
    "project",
    "rank",
    "request",
    "role",
    "sign-in by code",
    "subscription",
    "template",
    "user",
    "webhook",
    "workflow",
    "workload",
)
ATTEMPT: Verb = "attempt"  # something that was refused
COMMAND_LINE = "Command line"  # stands for the user of a command on the machine itself
#: Run:ai's action for each of our verbs. All other verbs are an update.
ACTIONS = {
    "create": "create",
    "delete": "delete",
    "sign in": "sign-in",
    "sign out": "sign-out",
    "reset password": "reset-password",
}
UPDATE = "update"
