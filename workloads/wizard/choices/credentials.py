"""Offer the credentials that a draft can use. For a variable, the author chooses a credential by
its name, type and scope, and then one of its keys."""

from collections.abc import Iterable
from functools import cached_property

from accounts.models import User
from assets.credential.model import Credential
from assets.credential.usable import (
    UsableCredentials,
    credentials_of_kinds,
    fault_of,
    is_of_another_person,
    nearest_first,
    option_text,
    usable_credentials,
)
from clusters.models import Cluster
from core.forms.field import Option, Values
from core.forms.items import ShownCell, ShownItem
from projects.models import Project
from spec.data.credential import KEYS, PULL_KINDS, CredentialKind
from workloads.wizard.sections.container.variables import option_value

MOST = 100  # credentials in a list; if there are more, one searches by name
MOST_SUGGESTED = 8
SELECT: Option = ("", "Select a credential")


class Credentials:
    """The credentials of a project. They are read with at most two queries, however many variables
    there are. Without a project there are none."""

    def __init__(self, project: Project | None, cluster: Cluster | None, *, by: User) -> None:
        self.project = project
        self.cluster = cluster
        self.by = by

    @cached_property
    def rows(self) -> list[Credential]:
        """The usable credentials by name, one more than :data:`MOST` if there are more."""
        if self.project is None:
            return []
        rows = usable_credentials(self.project, self.by).select_related(
            "cluster", "department", "project"
        )
        return list(rows.order_by("name", "pk")[: MOST + 1])

    @property
    def has_too_many(self) -> bool:
        return len(self.rows) > MOST

    def suggest(self, text: str) -> list[Option]:
        """Return names that contain ``text``, each with the type and scope of its credential."""
        if self.project is None:
            return []
        rows = usable_credentials(self.project, self.by).filter(name__icontains=text.strip())
        rows = rows.select_related("cluster", "department", "project").order_by("name", "pk")
        return [
            (row.name, option_text(row))
            for row in rows[:MOST_SUGGESTED]
            if not self.why_barred(row)
        ]

    @property
    def for_registries(self) -> list[Option]:
        """Credentials for image pulls, by name. Of several with one name, the nearest scope
        wins."""
        return self._options_of_kinds(*PULL_KINDS)

    @property
    def for_repositories(self) -> list[Option]:
        """Credentials for Git repositories, by name, as for image pulls."""
        return self._options_of_kinds(CredentialKind.PASSWORD, CredentialKind.SSH_KEY)

    @property
    def for_buckets(self) -> list[Option]:
        return self._options_of_kinds(CredentialKind.ACCESS_KEY)

    @property
    def for_files(self) -> list[Option]:
        """Credentials for Secret volumes, by name: every type except registries."""
        return self._options_of_kinds(*(kind for kind in CredentialKind if kind not in PULL_KINDS))

    def _options_of_kinds(self, *kinds: CredentialKind) -> list[Option]:
        """Return name and description of the credentials of these types. Of several with one name,
        the nearest scope wins."""
        words: dict[str, str] = {}
        for row in (
            self._valid_credentials
            if CredentialKind.GENERIC in kinds
            else self._credentials_with_keys
        ):
            if row.spec.kind in kinds and not self._cluster_issue(row):
                words.setdefault(row.name, option_text(row))
        return list(words.items())

    @cached_property
    def _credentials_with_keys(self) -> list[Credential]:
        """The valid credentials by name; of several with one name, the nearest scope comes first.
        If there are too many for a list, generic ones are left out: their type does not tell their
        keys."""
        if self.project is None or not self.has_too_many:
            return nearest_first(it for it in self.rows if not fault_of(it))
        return credentials_of_kinds([*KEYS], usable_credentials(self.project, self.by))

    @cached_property
    def _valid_credentials(self) -> list[Credential]:
        """All valid credentials, in the same order. There may be a thousand, but a Secret volume
        has no other way to choose one."""
        if self.project is None or not self.has_too_many:
            return self._credentials_with_keys
        return credentials_of_kinds([*CredentialKind], usable_credentials(self.project, self.by))

    def why_barred(self, credential: Credential) -> str:
        """Return why a variable cannot use the credential here, or an empty text if it can."""
        if fault_of(credential):
            return "no longer valid"
        if credential.spec.is_registry:
            return "only for image pulls"
        return self._cluster_issue(credential)

    def _cluster_issue(self, credential: Credential) -> str:
        return credential.issue_in(self.cluster) if self.cluster else ""

    def ask_for_variables(self, items: Iterable[tuple[ShownItem, Values]]) -> None:
        """Turn the value and key of each variable that uses a credential into choices.

        ``items`` are pairs of a shown row and its variable in the draft.
        """
        pairs = [
            (item, variable["credential"]) for item, variable in items if _uses_credential(variable)
        ]
        if not pairs:
            return
        references = (reference for _, reference in pairs)
        usable = UsableCredentials.load(references, self.project, self.by)
        for item, reference in pairs:
            credential = usable.find(reference)
            self._ask_for_value(item.by_slug["value"], reference, credential)
            _ask_for_key(item.by_slug["key"], credential)
            if not self.rows:
                where = f"in {self.project.name}" if self.project else "here"
                item.note = f"No credential can be used {where} yet. Create one under Credentials."

    def _ask_for_value(
        self, cell: ShownCell, reference: Values, credential: Credential | None
    ) -> None:
        """Offer the credentials. ``reference`` is the id and name in the draft, ``credential`` the
        usable credential with them, if there is one."""
        if self.has_too_many:
            cell.value = credential.name if credential else str(reference.get("name") or "")
            cell.suggests = "draft-credentials"
            return
        cell.is_choice = True
        cell.value = option_value(reference)
        options = [
            (_option_value(row), option_text(row)) for row in self.rows if not self.why_barred(row)
        ]
        if credential:
            # The draft may name the credential without its id. Its option gets the draft's value.
            options = [
                (cell.value if value == _option_value(credential) else value, text)
                for value, text in options
            ]
        if cell.value and cell.value not in dict(options):
            options.append((cell.value, self._unusable_text(reference, credential)))
        cell.options = [SELECT, *options]
        barred = ((row.name, self.why_barred(row)) for row in self.rows)
        cell.barred = [f"{name} ({why})" for name, why in barred if why]

    def _unusable_text(self, reference: Values, credential: Credential | None) -> str:
        if credential:
            name = credential.name
        else:
            name = str(reference.get("name") or reference.get("assetId"))
        if not credential and is_of_another_person(reference.get("assetId"), self.by):
            return f"{name} (another person's own)"
        where = f"in {self.project.name}" if self.project else "here"
        return f"{name} (cannot be used {where})"


def _uses_credential(variable: Values) -> bool:
    return isinstance(variable.get("credential"), dict)


def _option_value(credential: Credential) -> str:
    return option_value({"assetId": credential.pk, "name": credential.name})


def _ask_for_key(cell: ShownCell, credential: Credential | None) -> None:
    """Offer the keys of the credential. If they are unknown, which is possible for an existing
    Secret, the key stays a text field."""
    keys = credential.spec.names if credential else ()
    if credential and credential.spec.existing_secret and not keys:
        return
    cell.is_choice = True
    options = [(key, key) for key in keys]
    if len(keys) != 1:
        options.insert(0, ("", "Select a key" if credential else "Select a credential first"))
    elif not cell.value:
        cell.value = keys[0]
    if cell.value not in dict(options):
        remark = f" (not in {credential.name})" if credential else ""
        options.append((cell.value, f"{cell.value}{remark}"))
    cell.options = options
