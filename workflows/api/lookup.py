"""Look up what a request names, and answer what a verb refuses."""

from collections.abc import Iterator
from contextlib import contextmanager

from accounts import access
from accounts.api.tokens import ApiRequest
from core.deletion import InUse
from core.rest.api import ApiError, Issue, not_found, refusal_error
from core.web.query import parse_number, parse_uuid
from projects.models import Project
from spec.formats.lines import YamlError
from spec.problems.errors import SpecError
from workflows import pools
from workflows.models import Workflow
from workloads.services import NotPossible

CANNOT = "The workflow cannot be submitted."
FILE = "file"


def find_workflow(request: ApiRequest, workflow_id: str) -> Workflow:
    """Return a workflow by its id or its label, such as ``train-3``. ``ApiError`` 404."""
    rows = Workflow.objects.visible_to(request.user).for_detail()
    pk = parse_uuid(workflow_id)
    workflow = rows.filter(pk=pk).first() if pk else rows.filter(label=workflow_id).first()
    if workflow is None:
        raise not_found("The workflow")
    return workflow


def find_project(request: ApiRequest, project_id: str) -> Project:
    """Return the project that a body names by its id or its name. ``ApiError`` 400 if there is none
    to which the caller may submit; 403 if they only see it."""
    project = _find_open_project(request, project_id)
    if project is None:
        raise refusal_error(
            CANNOT, [Issue(field="projectId", details="is not one of your projects")]
        )
    return project


def find_pool(request: ApiRequest, pool: str) -> Project:
    """Return the project that an address of OSMO names as a pool. ``ApiError`` 404; 403 if the
    caller only sees it."""
    project = _find_open_project(request, pool)
    if project is None:
        raise not_found("The pool")
    return project


def _find_open_project(request: ApiRequest, id_or_name: str) -> Project | None:
    access.require_anywhere(request.user, "workloads.create")
    pk = parse_number(id_or_name)
    if pk is None:
        project = pools.find_project(id_or_name, by=request.user)
    else:
        projects = Project.objects.open_to(request.user, "projects.read").select_related("cluster")
        project = projects.filter(pk=pk).first()
    if project:
        access.require(request.user, "workloads.create", *project.scope_keys)
    return project


@contextmanager
def translated_refusals() -> Iterator[None]:
    """Answer 400 with every line of a file and every field that is wrong, and 409 if the status of
    a workflow does not allow an action."""
    try:
        yield
    except YamlError as error:
        issues = [
            Issue(field=f"{FILE}.{it.line}" if it.line else FILE, details=it.message)
            for it in error.problems
        ]
        raise _refusal(issues) from error
    except SpecError as error:
        issues = [
            Issue(field=it.field, details=it.message, rule=it.rule, source=it.source)
            for it in error.problems
        ]
        raise _refusal(issues) from error
    except (InUse, NotPossible) as error:
        raise ApiError(409, str(error)) from error


def _refusal(issues: list[Issue]) -> ApiError:
    return refusal_error(CANNOT, issues, f"{issues[0].field}: {issues[0].details}")
