"""The editor of a policy: a form of rules and the same policy as YAML, side by side.

Nothing is stored until it is saved: the page sends the text each time. The buttons of the form say
what to do with it.
"""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import access
from accounts.http import Request, permission_required
from assets.models import DataSource
from core.forms.field import Field, Input, Option
from core.forms.form import Form
from core.web.query import parse_number
from policies import services
from policies.description import allowed_keys
from policies.models import Policy
from policies.saving import NeedsConfirmation
from policies.words import RuleWords, rule_rows
from projects.scopes import OwningScope, scope_options, scopes_open_to
from spec.kind import WorkloadKind, workload_kind
from workloads.policies.editor import PolicyText, write_text
from workloads.policies.rule_form import RULE, RuleForm, put_rule
from workloads.policies.simulation import Simulation, simulate
from workloads.wizard.as_yaml import read_posted_text

NAME = "name"
SCOPE = "scope"
KIND = "kind"
KINDS = tuple((kind.value, kind.label) for kind in WorkloadKind)
FIELDS = (
    Field(NAME, "Name", required=True),
    Field(SCOPE, "Scope", Input.SELECT, choices=SCOPE, required=True),
    Field(KIND, "Workloads", Input.SELECT, options=KINDS, required=True),
)
OVERTAKEN = (
    "Someone saved this policy after you opened it. Your text is kept below; compare it with the "
    "stored version before you save it again."
)
editor_methods = require_http_methods(["GET", "HEAD", "POST"])


@editor_methods
@never_cache
@permission_required("policies.create")
def create(request: Request) -> HttpResponse:
    """Create the policy of a scope. The query may have ``scope`` and ``kind``."""
    scopes = scopes_open_to(request.user, "policies.create")
    given = request.POST if request.method == "POST" else request.GET
    first = next(iter(reversed(scopes)), "")  # the account, for those who may rule it
    chosen = given.get(SCOPE, "")
    initial = {
        NAME: "",
        SCOPE: chosen if chosen in scopes else first,
        KIND: workload_kind(given.get(KIND, "")).value,
    }
    groups = scope_options(scopes, "")
    form = Form(
        FIELDS,
        initial,
        request.POST if request.method == "POST" else None,
        offered={SCOPE: [option for _, options in groups for option in options]},
    )
    form[SCOPE].groups = groups
    return _Page(request, form, scopes[initial[SCOPE]], None).respond()


@editor_methods
@never_cache
@permission_required("policies.update")
def edit(request: Request, pk: UUID) -> HttpResponse:
    visible = Policy.objects.visible_to(request.user)
    rows = visible.select_related("cluster", "department__cluster", "project__cluster")
    policy = get_object_or_404(rows, pk=pk)
    scope = policy.owning_scope
    access.require(request.user, "policies.update", *scope.scope_keys)
    form = Form(
        FIELDS,
        {NAME: policy.name, SCOPE: scope.key, KIND: policy.kind},
        request.POST if request.method == "POST" else None,
        offered={SCOPE: [(scope.key, str(scope))]},
        fixed=(SCOPE, KIND),
    )
    return _Page(request, form, scope, policy).respond()


class _Page:
    """One request of the editor. ``stored`` is the policy that is edited; ``None`` for a new
    one."""

    def __init__(
        self, request: Request, form: Form, scope: OwningScope, stored: Policy | None
    ) -> None:
        self.request = request
        self.form = form
        self.scope = scope
        self.stored = stored
        self.kind = workload_kind(str(form.values.get(KIND) or ""))
        self.simulation: Simulation | None = None
        self.question = ""
        self.version = stored.version if stored else 0
        text = read_posted_text(request)
        if request.method != "POST" and stored:
            text = write_text(tuple(stored.masked_rules), self.kind)
        name = str(form.values.get(NAME) or "")
        self.policy = PolicyText(text, scope, self.kind, name)
        self.rule_form = RuleForm(self.kind, self._data_sources(), posted=self._posted_rule())

    def respond(self) -> HttpResponse:
        if self.request.method != "POST":
            return self._render(shows_problems=False)
        action, _, number = self.request.POST.get("action", "choose").partition(" ")
        if action == "choose":
            return self._render(shows_problems=False)
        if action == "put":
            return self._render(status=200 if self._put_rule() else 422)
        if action in ("change", "remove"):
            self._pick_rule(action, parse_number(number))
            return self._render()
        return self._judge(action)

    def _put_rule(self) -> bool:
        """Put the entered rule into the text. Return whether the text has it now."""
        rule = self.rule_form.build_rule()
        if rule is None:
            return False
        if self.policy.rules is None:
            self.rule_form.add_error(None, "Correct the YAML first.")
            return False
        changed = self.policy.with_rules(put_rule(self.policy.rules, rule))
        if problems := changed.problems_of(rule):
            for problem in problems:
                self.rule_form.add_problems([((RULE, "value"), problem)])
            return False
        self.policy = changed
        self.rule_form = RuleForm(self.kind, self._data_sources())
        return True

    def _pick_rule(self, action: str, number: int | None) -> None:
        """Remove a rule from the text, or show it in the form."""
        rules = self.policy.rules or ()
        if number is None or number >= len(rules):
            return
        if action == "remove":
            self.policy = self.policy.with_rules([*rules[:number], *rules[number + 1 :]])
        else:
            self.rule_form = RuleForm(self.kind, self._data_sources(), rule=rules[number])

    def _judge(self, action: str) -> HttpResponse:
        """Check the policy, simulate it, or save it."""
        self._check_scope()
        if not (self.policy.is_valid and self.form.is_valid()):
            return self._render(status=422)
        if action == "simulate":
            self.simulation = simulate(self.policy.policy(), by=self.request.user)
        elif action in ("save", "confirm"):
            return self._save(confirmed=action == "confirm")
        return self._render()

    def _save(self, *, confirmed: bool) -> HttpResponse:
        if self.stored and parse_number(self.request.POST.get("version", "")) != self.version:
            self.form.add_error(None, OVERTAKEN)
            return self._render(status=409)
        try:
            saved = services.save_policy(
                by=self.request.user,
                scope=self.scope,
                kind=self.kind,
                name=self.policy.name,
                tree=self.policy.tree,
                confirmed=confirmed,
            )
        except NeedsConfirmation as error:
            self.question = str(error)
            self.simulation = simulate(self.policy.policy(), by=self.request.user)
            return self._render(status=409)
        messages.success(self.request, f"The policy {saved} was saved.")
        return redirect(saved.get_absolute_url())

    def _check_scope(self) -> None:
        """Report a name that is wrong, and a scope that has a policy of this kind already."""
        self.form.add_problems(((NAME,), problem) for problem in self.policy.name_problems)
        if self.stored:
            return
        other = Policy.objects.of_scope(self.scope).filter(kind=self.kind).first()
        if other:
            message = f"{self.scope} has the policy {other} for this kind; edit that one"
            self.form.add_problems([((SCOPE,), message)])

    def _posted_rule(self) -> Any:
        return self.request.POST if self.request.method == "POST" else None

    def _data_sources(self) -> list[Option]:
        rows = DataSource.objects.visible_to(self.request.user).usable_at(self.scope)
        return [(str(row.pk), row.name) for row in rows.order_by("name")]

    def _rows(self) -> list[RuleWords]:
        return rule_rows(self.policy.rules or (), self.kind)

    def _render(self, *, status: int = 200, shows_problems: bool = True) -> HttpResponse:
        back = self.stored.get_absolute_url() if self.stored else reverse("policy-list")
        problems = self.policy.problems if shows_problems else []
        context = {
            "policy": self.stored,
            "form": self.form,
            "rule_form": self.rule_form,
            "rows": self._rows(),
            "is_readable": self.policy.rules is not None,
            "has_roles": self.kind.is_gang,
            "text": self.policy.text,
            "problems": problems,
            "first_bad_line": self.policy.first_bad_line if problems else 0,
            "keys": allowed_keys(self.kind),
            "simulation": self.simulation,
            "question": self.question,
            "version": self.version,
            "back": back,
            "nav_route": "policy-list",
        }
        is_choice = self.request.htmx and self.request.htmx.target == "rule"
        template = "workloads/policies/editor.html"
        return render(
            self.request, f"{template}#rule" if is_choice else template, context, status=status
        )
