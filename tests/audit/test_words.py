"""The words of the audit log. Entries keep theirs for good, so one that was used is always known,
and entries with it can be asked for."""

from audit.words import KINDS, VERBS

#: Those of every version so far. A new one is one more word here, and none is ever removed.
VERBS_SO_FAR = """
    activate | add | approve | attempt | cancel | change password | copy | create | deactivate
    | delete | deny | extend
    | forward a port of | open terminal | purge | remove | renew secret | renew the secret of
    | resend | reset password | run | sign in | sign out | stop | test | update
"""
KINDS_SO_FAR = """
    access key | access rule | cluster | compute resource | connection test | credential
    | data source | dataset version | department | environment | general settings | group
    | mail server | node pool | policy | pool
    | project | rank | request | role | sign-in by code | subscription
    | template | user | webhook | workflow | workload
"""


def words(text: str) -> set[str]:
    return {word.strip() for word in text.split("|")}


def test_no_verb_of_an_entry_is_ever_forgotten() -> None:
    assert set(VERBS) == words(VERBS_SO_FAR)


def test_no_kind_of_object_of_an_entry_is_ever_forgotten() -> None:
    assert set(KINDS) == words(KINDS_SO_FAR)
