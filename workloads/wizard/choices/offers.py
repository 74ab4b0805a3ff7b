"""Offer what the draft's cluster and project have: storage, nodes, credentials and data sources to
choose from, and the reason if something is not available."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial

from accounts import access, general
from accounts.models import GeneralSettings, User
from assets.environment.variables import SOURCES, VALUE
from assets.kinds import listed_kinds
from clusters.kinds import KINDS
from clusters.models import Cluster
from clusters.withheld import why_withheld
from core.forms.field import Cell, Option
from core.forms.items import BARRED
from core.forms.shown import ShownField
from core.forms.words import field_sentence
from core.words import name_first_three
from engines.local_queues import DEFAULT_QUEUE, LocalQueue
from projects.models import Project
from spec.parts.scheduling import DEFAULT_POOL, PriorityClass
from workloads.wizard.choices import people
from workloads.wizard.choices.credentials import Credentials
from workloads.wizard.sections.base import Question, Section
from workloads.wizard.sections.container.variables import CREDENTIAL

NO_CLUSTER = "Select a cluster and a project first: not all clusters support this."


class LazyChoices(Mapping[str, list[Option]]):
    """Lists of choices by name. Lists that are not ``known`` yet are read when they are first
    used."""

    def __init__(
        self, known: dict[str, list[Option]], readers: Mapping[str, Callable[[], list[Option]]]
    ) -> None:
        self._known = known
        self._readers = readers

    def __getitem__(self, name: str) -> list[Option]:
        if name not in self._known:
            self._known[name] = self._readers[name]()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._known, **self._readers})

    def __len__(self) -> int:
        return len({**self._known, **self._readers})


class Offer:
    """The choices of a draft. ``cluster`` is ``None`` until the draft has a project; ``by`` is the
    author of the draft."""

    def __init__(self, cluster: Cluster | None, project: Project | None, *, by: User) -> None:
        self.cluster = cluster
        self.project = project
        self.by = by
        self.credentials = Credentials(project, cluster, by=by)

    def why_missing(self, section: Section) -> str:
        """Return why the cluster does not support a section of the page; empty if it does."""
        if self.cluster:
            return self.cluster.definition.missing_sections.get(section.key, "")
        if any(section.key in kind.missing_sections for kind in KINDS.values()):
            return NO_CLUSTER
        return ""

    def why_not(self, question: Question, cell: Cell | None = None, option: str = "") -> str:
        """Return why the cluster does not support a question, a cell of its items, or an option of
        that cell; empty if it does."""
        if self.cluster is None:
            return ""
        key = ".".join(filter(None, (question.key, cell.key if cell else "", option)))
        reason = why_withheld(self.cluster, key)
        return field_sentence(reason) if reason else ""

    @cached_property
    def who_changes_policies(self) -> str:
        """A sentence that names the people who can change every policy."""
        names = list(access.permitted_users("policies.update").values_list("username", flat=True))
        return f"Ask {name_first_three(names)} to change the policy." if names else ""

    @cached_property
    def variable_sources(self) -> set[str]:
        """The sources that a variable can take its value from here."""
        if self.cluster and self.cluster.definition.has_secrets:
            return set(dict(SOURCES))
        return {VALUE, CREDENTIAL} if self.credentials.rows else {VALUE}

    def warn_about_people(self, shown: ShownField) -> None:
        """Add notes and warnings to each tool that names people or groups."""
        people.add_warnings(shown, self.by)

    def may_ask(self, question: Question) -> bool:
        """Return whether the general settings let the form ask the question."""
        return not question.switch or bool(getattr(self._settings, question.switch))

    @cached_property
    def _settings(self) -> GeneralSettings:
        return general.read_settings()

    @cached_property
    def choices(self) -> Mapping[str, list[Option]]:
        """The options of every field that offers choices, by the name of their list. Assets are
        read only when the form asks for them, as there may be a thousand."""
        if self.cluster is None:
            return {}
        capabilities = self.cluster.capabilities
        pools = [pool.name for pool in self.cluster.pools.all()]
        names = {
            "storage_classes": capabilities.storage_classes,
            "priority_classes": [
                str(name) for name in PriorityClass if name in capabilities.priority_classes
            ],
            "node_pools": [*pools, DEFAULT_POOL],
            **self.cluster.definition.known_names(self.cluster),
        }
        known = {key: [(name, name) for name in values] for key, values in names.items()}
        list_keys = [kind.list_key for kind in listed_kinds()]
        asset_lists = [*list_keys, *(f"{key}{BARRED}" for key in list_keys)]
        pulls_images = self.cluster.definition.pulls_images
        return LazyChoices(
            known,
            {
                **{name: partial(self._listed_options, name) for name in asset_lists},
                "claims": self._claim_options,
                "local_queues": self._queue_options,
                "config_maps": lambda: [(name, name) for name in self.config_maps or ()],
                "registries": lambda: self.credentials.for_registries if pulls_images else [],
                "git_credentials": lambda: self.credentials.for_repositories,
                "access_keys": lambda: self.credentials.for_buckets,
                "mounted_credentials": lambda: self.credentials.for_files,
            },
        )

    def _claim_options(self) -> list[Option]:
        claims = self.claims or {}
        return [(name, f"{name} ({description})") for name, description in claims.items()]

    @cached_property
    def claims(self) -> dict[str, str] | None:
        """Size and access modes of the project's claims, by name; ``None`` if the cluster does not
        list them."""
        if not (self.cluster and self.project):
            return None
        claims = self.cluster.definition.claims(self.cluster, self.project.name)
        if claims is None:
            return None
        return {claim.name: ", ".join(filter(None, (claim.size, claim.modes))) for claim in claims}

    def _queue_options(self) -> list[Option]:
        return [(queue.name, _queue_text(queue)) for queue in self.local_queues]

    @property
    def has_kueues_default(self) -> bool:
        """Whether Kueue has a queue in the namespace for jobs that name none."""
        return any(queue.name == DEFAULT_QUEUE for queue in self.local_queues)

    @cached_property
    def local_queues(self) -> list[LocalQueue]:
        """The LocalQueues of the project's namespace; none if the cluster does not list them."""
        if not (self.cluster and self.project):
            return []
        return list(self.cluster.definition.local_queues(self.cluster, self.project.name) or ())

    @cached_property
    def config_maps(self) -> list[str] | None:
        """Names of the project's ConfigMaps; ``None`` if the cluster does not list them."""
        if not (self.cluster and self.project):
            return None
        names = self.cluster.definition.config_maps(self.cluster, self.project.name)
        return None if names is None else list(names)

    def _listed_options(self, name: str) -> list[Option]:
        return self._listed_assets.get(name, [])

    @cached_property
    def _listed_assets(self) -> dict[str, list[Option]]:
        """The assets that can be chosen, by the key of their kind's list, and under a second name
        those that cannot, with the reason."""
        options: dict[str, list[Option]] = {}
        if self.project is None:
            return options
        for kind in listed_kinds():
            visible = kind.rows.visible_to(self.by).usable_in(self.project)
            columns = ("pk", "name", kind.column, "cluster_id")
            rows = list(visible.order_by("name", "pk").only(*columns))
            issues = kind.issues(rows, self.cluster)
            options[kind.list_key] = [
                (str(row.pk), kind.option_label(row)) for row in rows if row.pk not in issues
            ]
            options[f"{kind.list_key}{BARRED}"] = [
                (str(row.pk), f"{row.name}: {issues[row.pk]}") for row in rows if row.pk in issues
            ]
        return options


def _queue_text(queue: LocalQueue) -> str:
    state = ", not active" if queue.why_inactive else ""
    return f"{queue.name} (ClusterQueue {queue.cluster_queue}{state})"
