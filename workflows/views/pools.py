"""The pages of pools, for administrators."""

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import Request, permission_required
from accounts.models import User
from core.forms.field import Field, Input, Values
from core.forms.form import Form, collect_errors
from core.web.http import render_partial
from core.web.pages import deletion_page, form_page, respond_after_change
from projects.models import Project
from workflows import pools
from workflows.models import Pool

CRUMB = "Pools"
FIELDS = (
    Field(
        "name",
        "Pool",
        hint="As workflow files and --pool name it.",
        required=True,
        literal=True,
    ),
    Field("project", "Project", Input.SELECT, choices="projects", required=True),
    Field("description", "Description"),
)
form_methods = require_http_methods(["GET", "HEAD", "POST"])


class PoolForm(Form):
    """The form of a new pool, or of an existing one, whose name cannot be changed."""

    def __init__(self, posted: QueryDict | None, *, user: User, pool: Pool | None = None) -> None:
        visible = Project.objects.open_to(user, "projects.read").order_by("name")
        self.projects = {str(row.pk): row for row in visible}
        initial: Values = {}
        if pool:
            initial = {
                "name": pool.name,
                "project": str(pool.project_id),
                "description": pool.description,
            }
        offered = {"projects": [("", "Choose a project"), *self._options()]}
        fixed = ("name",) if pool else ()
        super().__init__(FIELDS, initial, posted, offered=offered, fixed=fixed)

    def _options(self) -> list[tuple[str, str]]:
        return [(pk, row.name) for pk, row in self.projects.items()]

    def save(self, *, by: User) -> Pool:
        values = {name: str(self.values.get(name) or "").strip() for name in self.fields}
        return pools.save(
            values["name"],
            project=self.projects[values["project"]],
            description=values["description"],
            by=by,
        )


@require_safe
@permission_required("settings.read")
def listing(request: Request) -> HttpResponse:
    rows = Pool.objects.select_related("project__cluster")
    return render_partial(request, "workflows/pools.html", "rows", {"pools": rows})


@form_methods
@permission_required("settings.update")
def create(request: Request) -> HttpResponse:
    form = PoolForm(request.POST if request.method == "POST" else None, user=request.user)
    name = str(form.values.get("name") or "").strip()
    if form.is_bound and Pool.objects.filter(name=name).exists():
        form.add_error("name", f"The pool {name} exists already.")
    return _form_response(request, form, "New pool", "Create pool")


@form_methods
@permission_required("settings.update")
def edit(request: Request, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool, name=name)
    posted = request.POST if request.method == "POST" else None
    form = PoolForm(posted, user=request.user, pool=pool)
    return _form_response(request, form, f"Edit {pool}", "Save changes")


def _form_response(request: Request, form: PoolForm, title: str, submit: str) -> HttpResponse:
    if form.is_bound and not form.values.get("project"):
        form.add_error("project", "Choose a project.")
    if form.is_valid():
        with collect_errors(form):
            pool = form.save(by=request.user)
            messages.success(request, f"The pool {pool} is the project {pool.project}.")
            return respond_after_change(request, reverse("pool-list"))
    return form_page(
        request,
        form,
        title=title,
        submit=submit,
        fields="components/inputs.html",
        crumb=(CRUMB, reverse("pool-list")),
    )


@form_methods
@permission_required("settings.update")
def delete(request: Request, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool, name=name)
    return deletion_page(
        request,
        pool,
        "pool",
        lambda: pools.delete(pool, by=request.user),
        text="Its project and the workflows there stay. Files and command lines that name the "
        "pool no longer find it.",
        crumb=(CRUMB, reverse("pool-list")),
    )
