"""The forms of projects, departments and members. The services validate the values."""

from collections.abc import Collection
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils import timezone
from pydantic import BaseModel, ConfigDict
from pydantic import ValidationError as PydanticError

from accounts import rules
from accounts.forms import (
    KEY_LIFETIMES,
    NEVER,
    ROLE_FIELD,
    SIGN_IN_FIELDS,
    USER_FIELDS,
    text_values,
)
from accounts.models import AccessRole, User, UserGroup
from accounts.permissions import RESEARCHER
from clusters.models import Cluster, NodePool
from clusters.withheld import why_withheld
from core.forms.field import Cell, Field, Input, Values
from core.forms.form import Form
from engines.local_queues import LocalQueue
from projects.members import researchers_of, visible_people
from projects.models import DEFAULT_DEPARTMENT, Department, Project
from projects.pool_fields import (
    ProjectQuotaValues,
    QuotaValues,
    ShownPool,
    department_fields,
    initial_quota,
    project_fields,
)
from projects.pool_quotas import pool_names, quota_row
from projects.rules import RULE_COLUMNS
from projects.scopes import OwningScope
from spec.part import Whole
from spec.parts.scheduling import DEFAULT_POOL, PriorityClass
from spec.problems.errors import problems_in

USER = "user"
GROUP = "group"
SERVICE_ACCOUNT = "service-account"
SUBJECT_KINDS = ((USER, "User"), (GROUP, "Group"), (SERVICE_ACCOUNT, "Service account"))
RULE_LIFETIMES = ((NEVER, "Never"), ("1", "1 day"), *KEY_LIFETIMES[:-1])
NEW_DEPARTMENT = "Choose one, or enter the name of a new one."
OWN_DEPARTMENTS = "One in which you may create projects."
POOL = Cell(
    "",
    "Node pool",
    Input.SELECT,
    options=(("", "Select a node pool"),),
    choices="node_pools",
    missing="not on this cluster",
)
CLUSTER = Field("cluster", "Cluster", Input.SELECT, choices="clusters")
NODE_TYPE = Cell("", "Node type")


def _limit(key: str, label: str, hint: str = "") -> Field:
    return Field(key, label, Input.DURATION, hint, unit="hours", placeholder="No rule")


def _node_types(key: str, label: str) -> Field:
    hint = "Workloads have to choose one of these. Without any, the choice is free."
    return Field(key, label, Input.ITEMS, hint, cells=(NODE_TYPE,), add="Node type")


RULES = (
    _limit("training_job_time_limit_seconds", "Time limit of trainings"),
    _limit("training_job_max_idle_duration_seconds", "Idle GPU limit of trainings"),
    _limit("interactive_job_time_limit_seconds", "Time limit of workspaces"),
    _limit(
        "interactive_job_preempt_idle_duration_seconds",
        "Idle GPU limit of preemptible workspaces",
    ),
    _limit(
        "interactive_job_max_idle_duration_seconds",
        "Idle GPU limit of non-preemptible workspaces",
    ),
    _limit(
        "extension_seconds",
        "Extension",
        "How much longer owners may keep a workload, once. Without it they may not.",
    ),
    _node_types("training_node_types", "Node types of trainings"),
    _node_types("workspace_node_types", "Node types of workspaces"),
)


class UnitValues(BaseModel):
    """The typed values that the forms of departments and projects share, besides quotas."""

    model_config = ConfigDict(frozen=True)

    name: str = ""
    interactive_job_time_limit_seconds: Whole | None = None
    training_job_time_limit_seconds: Whole | None = None
    interactive_job_preempt_idle_duration_seconds: Whole | None = None
    interactive_job_max_idle_duration_seconds: Whole | None = None
    training_job_max_idle_duration_seconds: Whole | None = None
    extension_seconds: Whole | None = None
    training_node_types: tuple[str, ...] = ()
    workspace_node_types: tuple[str, ...] = ()

    def rule_values(self) -> dict[str, Any]:
        return self.model_dump(include=set(RULE_COLUMNS))


class DepartmentValues(UnitValues, QuotaValues):
    """The typed values of a department's form. A quota of ``None`` is the sum of its projects'
    quotas. ``pools`` are the quotas in node pools besides the default one."""

    pools: dict[str, QuotaValues] = {}


class ProjectValues(UnitValues, ProjectQuotaValues):
    department: str = ""
    description: str = ""
    default_node_pools: tuple[str, ...] = ()
    default_queue: str = ""
    pools: dict[str, ProjectQuotaValues] = {}


class DepartmentForm(Form):
    """The form of a department. If its cluster is known and has node pools besides the default one,
    it has the fields of their quotas too."""

    FIELDS: tuple[Field, ...] = (
        CLUSTER,
        Field("name", "Department name", required=True),
        *department_fields(),
        *RULES,
    )
    VALUES: type[DepartmentValues] | type[ProjectValues] = DepartmentValues
    POOL_FIELDS = staticmethod(department_fields)
    POOL_VALUES: type[QuotaValues] = QuotaValues
    #: The columns of the default pool that the services take by themselves.
    QUOTA_ARGUMENTS: tuple[str, ...] = ("gpu_quota", "cpu_quota", "memory_quota", "over_quota")

    def __init__(
        self, posted: QueryDict | None, *, by: User, initial: Values, fixed: Collection[str] = ()
    ) -> None:
        clusters = Cluster.objects.visible_to(by)
        self.clusters = {str(cluster.pk): cluster for cluster in clusters}
        self.fixed_cluster = initial["cluster"] if "cluster" in fixed else ""
        self.pool_names = self._other_pools(posted, str(initial.get("cluster", "")))
        new_quota = {"over_quota": True, "rank": PriorityClass.MEDIUM_LOW}
        initial = {"pools": dict.fromkeys(self.pool_names, new_quota), **initial}
        pool_fields = chain.from_iterable(map(self._fields_of_pool, self.pool_names))
        offered = {
            "clusters": [(pk, cluster.name) for pk, cluster in self.clusters.items()],
            **self.field_options(),
        }
        super().__init__(
            (*self.FIELDS, *pool_fields), initial, posted, offered=offered, fixed=fixed
        )
        if posted is not None:
            self._parse_values()

    def _other_pools(self, posted: QueryDict | None, initial_cluster: str) -> list[str]:
        """Return the node pools besides the default one of the cluster, if that is known, and in a
        post only those that its page had."""
        chosen = self.fixed_cluster or initial_cluster
        if posted is not None:
            chosen = self.fixed_cluster or posted.get("cluster", "")
        elif not chosen and len(self.clusters) == 1:
            (chosen,) = self.clusters
        cluster = self.clusters.get(chosen)
        names = [] if cluster is None else [pool.name for pool in cluster.pools.all()]
        return [it for it in names if posted is None or f"pools-{it}-gpu_quota" in posted]

    def _fields_of_pool(self, pool: str) -> tuple[Field, ...]:
        return self.POOL_FIELDS(f"pools.{pool}.")

    @property
    def pools(self) -> list[ShownPool]:
        """The quotas in node pools besides the default one."""
        columns = [field.key for field in self.POOL_FIELDS()]
        return [
            ShownPool(pool, {column: self[f"pools-{pool}-{column}"] for column in columns})
            for pool in self.pool_names
        ]

    @property
    def may_have_pools(self) -> bool:
        """Whether a cluster to choose from has node pools that the form does not show yet."""
        clusters = self._clusters_to_choose()
        return not self.pool_names and NodePool.objects.filter(cluster__in=clusters).exists()

    @property
    def has_limits(self) -> bool:
        """Whether the default pool has a limit or a weight, or errors in them."""
        limits = (self["gpu_limit"], self["over_quota_weight"])
        return any(shown.value or shown.errors for shown in limits)

    def field_options(self) -> dict[str, list[tuple[str, str]]]:
        return {}

    @property
    def asks_for_node_types(self) -> bool:
        """Whether a cluster to choose from has node types."""
        return not all(why_withheld(it, "nodeType") for it in self._clusters_to_choose())

    def _clusters_to_choose(self) -> list[Cluster]:
        """Return the clusters to choose from: all for a new project or department. The service
        checks what each cluster has."""
        return [it for pk, it in self.clusters.items() if self.fixed_cluster in {"", pk}]

    def _parse_values(self) -> None:
        try:
            self.parsed_values = self.VALUES.model_validate(self.document(without=("cluster",)))
        except PydanticError as error:
            self.add_problems((problem.path, problem.message) for problem in problems_in(error))

    def service_values(self) -> dict[str, Any]:
        """Return the values as keyword arguments of the services, without the cluster."""
        parsed = self.parsed_values
        columns = parsed.columns()
        default = {name: columns.pop(name) for name in self.QUOTA_ARGUMENTS}
        pool_quotas = {
            pool: parsed.pools.get(pool, self.POOL_VALUES()).columns() for pool in self.pool_names
        }
        others = {*RULE_COLUMNS, *self.POOL_VALUES.model_fields, "pools"}
        return {
            **parsed.model_dump(exclude=others),
            **default,
            "pool_quotas": {**pool_quotas, DEFAULT_POOL: columns},
            "rules": parsed.rule_values(),
        }

    @property
    def cluster(self) -> Cluster:
        return self.clusters[self.values["cluster"]]


class ProjectForm(DepartmentForm):
    FIELDS = (
        CLUSTER,
        Field("department", "Department", required=True),
        Field(
            "name",
            "Project name",
            hint="On Kubernetes its namespace is named after it, so the name stays while there "
            "are workloads.",
            required=True,
        ),
        Field("description", "Description"),
        *project_fields(),
        Field(
            "default_node_pools",
            "Default node pools",
            Input.ITEMS,
            "Tried in this order by workloads that name no node pools. Without any, they can use "
            "every node.",
            cells=(POOL,),
            add="Node pool",
            ordered=True,
        ),
        Field(
            "default_queue",
            "Default queue",
            hint="The LocalQueue of Kueue that starts workloads which name no queue.",
            placeholder="None",
            choices="local_queues",
        ),
        Field(
            "members",
            "Members",
            Input.BOXES,
            "Researchers who can submit here. Administrators always can.",
            choices="people",
        ),
        *RULES,
    )
    VALUES = ProjectValues
    POOL_FIELDS = staticmethod(project_fields)
    POOL_VALUES = ProjectQuotaValues
    QUOTA_ARGUMENTS = (*DepartmentForm.QUOTA_ARGUMENTS, "rank")

    def __init__(
        self, posted: QueryDict | None, *, by: User, initial: Values, fixed: Collection[str] = ()
    ) -> None:
        people = visible_people(by).order_by("username")
        self.people = {str(user.pk): user for user in people}
        self.initial_name = str(initial.get("name", ""))
        super().__init__(posted, by=by, initial=initial, fixed=fixed)
        self.departments = department_names(by)
        may_add_department = Cluster.objects.open_to(by, "projects.create").exists()
        self.department_hint = NEW_DEPARTMENT if may_add_department else OWN_DEPARTMENTS
        self["department"].attributes = {"list": "departments", "autocomplete": "off"}

    def field_options(self) -> dict[str, list[tuple[str, str]]]:
        pools = NodePool.objects.filter(cluster__in=self._clusters_to_choose())
        names = [*dict.fromkeys(pools.order_by("name").values_list("name", flat=True))]
        return {
            "people": [(pk, str(user)) for pk, user in self.people.items()],
            "node_pools": [(name, name) for name in (*names, DEFAULT_POOL)],
            "local_queues": [(queue, queue) for queue in self._queue_names()],
        }

    @property
    def asks_for_queue(self) -> bool:
        """Whether a cluster to choose from has Kueue, or the project has a default queue."""
        has_kueue = any(it.capabilities.kueue for it in self._clusters_to_choose())
        return has_kueue or bool(self["default_queue"].value)

    def _queue_names(self) -> list[str]:
        """Return the LocalQueues of the project's namespace; for a new project, whose namespace is
        not known yet, those of all namespaces."""
        queues: list[LocalQueue] = []
        for cluster in self._clusters_to_choose():
            if self.fixed_cluster:
                queues += cluster.definition.local_queues(cluster, self.initial_name) or ()
            else:
                queues += cluster.capabilities.local_queues or ()
        return sorted({queue.name for queue in queues})

    def service_values(self) -> dict[str, Any]:
        members = [self.people[pk] for pk in self.values.get("members", ())]
        return super().service_values() | {"members": members}


def department_names(by: User) -> list[str]:
    """Return the names of the departments in which a person may create projects."""
    departments = Department.objects.open_to(by, "projects.create")
    return [*departments.values_list("name", flat=True).order_by("name").distinct()]


def initial_project_values(project: Project) -> Values:
    return initial_shared_values(project) | {
        "department": project.department.name,
        "description": project.description,
        "default_node_pools": project.default_node_pools,
        "default_queue": project.default_queue,
        "members": [str(user.pk) for user in researchers_of(project)],
    }


def blank_project_values(by: User) -> Values:
    """Return the initial values of a new project, in a department where it can be created."""
    names = department_names(by)
    is_default_open = not names or DEFAULT_DEPARTMENT in names
    return {
        "department": DEFAULT_DEPARTMENT if is_default_open else names[0],
        "gpu_quota": 1,
        "over_quota": True,
        "rank": PriorityClass.MEDIUM_LOW,
    }


def initial_shared_values(owner: Project | Department) -> Values:
    """Return the initial values that the forms of projects and departments share."""
    return {
        "cluster": str(owner.cluster_id),
        "name": owner.name,
        **initial_quota(owner),
        "pools": {
            pool: initial_quota(quota_row(owner, pool))
            for pool in pool_names(owner.cluster)
            if pool != DEFAULT_POOL
        },
        **{column: getattr(owner, column) for column in RULE_COLUMNS},
    }


class MemberForm(Form):
    """The form of a user and their projects. For a ``new`` user it also asks how they sign in."""

    def __init__(self, posted: QueryDict | None, *, initial: Values, new: bool = False) -> None:
        self.projects = {str(it.pk): it for it in Project.objects.order_by("name")}
        self.user_fields = (*SIGN_IN_FIELDS, *USER_FIELDS) if new else USER_FIELDS
        self.roles = {str(role.pk): role for role in AccessRole.objects.all()} if new else {}
        offered = {
            "projects": [(pk, project.name) for pk, project in self.projects.items()],
            "roles": [("", "None"), *((pk, role.name) for pk, role in self.roles.items())],
        }
        member = Field("projects", "Member of projects", Input.BOXES, choices="projects")
        role = (ROLE_FIELD,) if new else ()
        super().__init__((*self.user_fields, *role, member), initial, posted, offered=offered)
        if new:
            self["username"].attributes = {"autocomplete": "off"}

    def service_values(self) -> dict[str, str]:
        """Return the values as keyword arguments of the services for users."""
        return text_values(self, *self.user_fields)

    @property
    def selected_role(self) -> AccessRole | None:
        return self.roles.get(str(self.values.get("role", "")))

    def selected_projects(self) -> list[Project]:
        return [self.projects[pk] for pk in self.values.get("projects", ())]


class AccessRuleForm(Form):
    """The form of a new access rule in ``scope``. It offers the roles that ``by`` may give
    there."""

    def __init__(self, posted: QueryDict | None, *, by: User, scope: OwningScope) -> None:
        keys = scope.scope_keys
        every = AccessRole.objects.order_by("-predefined", "pk")
        self.roles = {str(it.pk): it for it in every if rules.may_give(by, it, *keys)}
        offered = {"roles": [(pk, role.name) for pk, role in self.roles.items()]}
        fields = (
            Field("kind", "Subject", Input.SELECT, options=SUBJECT_KINDS),
            Field("name", "Name", hint="As it is spelled in Trainyard.", required=True),
            Field("role", "Role", Input.SELECT, choices="roles", required=True),
            Field("lasts", "Ends after", Input.SELECT, options=RULE_LIFETIMES),
        )
        # The role that is given most; the first of the list permits the most.
        usual = [pk for pk, role in self.roles.items() if role.name == RESEARCHER.name]
        initial = {"kind": USER, "lasts": NEVER, "role": "".join(usual)}
        super().__init__(fields, initial, posted, offered=offered)
        self["name"].attributes = {"autocomplete": "off"}

    @property
    def selected_role(self) -> AccessRole:
        return self.roles[str(self.values["role"])]

    @property
    def until(self) -> datetime | None:
        days = str(self.values.get("lasts", NEVER))
        return None if days == NEVER else timezone.now() + timedelta(days=int(days))

    def find_subject(self) -> User | UserGroup:
        """Return the subject that is named. ``ValidationError`` if there is none."""
        kind = str(self.values.get("kind", USER))
        name = str(self.values.get("name", "")).strip()
        subject: User | UserGroup | None
        if kind == GROUP:
            subject = UserGroup.objects.filter(name=name).first()
        else:
            users = User.objects.filter(is_service_account=kind == SERVICE_ACCOUNT)
            subject = users.filter(username=name).first()
        if subject is None:
            noun = dict(SUBJECT_KINDS)[kind].lower()
            raise ValidationError({"name": f"There is no {noun} {name}. Check the spelling."})
        return subject
