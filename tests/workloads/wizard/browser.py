"""A browser without JavaScript: it posts the values of the page, with a person's changes."""

import re
from html.parser import HTMLParser
from typing import Any

from django.test import Client

from accounts.models import User
from assets.models import ComputeResource, Environment
from projects.models import Project
from tests.factories import ComputeResourceFactory, EnvironmentFactory
from workloads.models import Draft
from workloads.plan import Plan, plan

HTMX: dict[str, Any] = {"HTTP_HX_REQUEST": "true"}


def item(name: str, at: int = 0, /, **parts: str) -> dict[str, str]:
    """Return item ``at`` of a list of the form, as a page posts it."""
    cells = {f"{name}-{at}-{key.replace('_', '-')}": value for key, value in parts.items()}
    return {name: "items", f"{name}-{at}-rest": "", **cells}


class Inputs(HTMLParser):
    """Reads what the form of a page would send, without disabled and unchecked inputs."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self.disabled: set[str] = set()
        self._area: str | None = None
        self._select: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name") or ""
        if tag == "input" and name:
            self._input(name, given)
        elif tag == "textarea":
            self._area = name
            self.values[name] = ""
        elif tag == "select":
            self._select = None if "disabled" in given else name
        elif tag == "option" and self._select:
            self._option(self._select, given)

    def _input(self, name: str, given: dict[str, str | None]) -> None:
        if given.get("type") in {"radio", "checkbox"} and "checked" not in given:
            return
        if "disabled" in given:
            self.disabled.add(name)
            return
        self.values[name] = given.get("value") or ""

    def _option(self, name: str, given: dict[str, str | None]) -> None:
        """Read an option. The first one counts if none is selected."""
        if "selected" in given or name not in self.values:
            self.values[name] = given.get("value") or ""
            self._area = name if "value" not in given else None

    def handle_endtag(self, tag: str) -> None:
        if tag in {"textarea", "option"}:
            self._area = None
        elif tag == "select":
            self._select = None

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self.values[self._area] += data


class Wizard:
    """The wizard of a user. Tests press its buttons as a person would; ``page`` is the HTML of the
    last answer."""

    def __init__(self, user: User) -> None:
        self.user = user
        self.client = Client()
        self.client.force_login(user)
        self.page = ""
        self.status = 0
        self.address = ""
        self.full_address = ""

    def open(self, address: str = "/workloads/new/") -> "Wizard":
        """Open a page, and follow redirects."""
        return self._take(self.client.get(address, follow=True))

    def press(self, action: str, **changes: Any) -> "Wizard":
        """Press a button, with other values in some fields."""
        values = Inputs(self.page).values | changes | {"action": action}
        return self._take(self.client.post(self.address, values, follow=True))

    def save(self, step: int, /, **fields: Any) -> str:
        """Save fields as JavaScript does when a field is left, and return the answer."""
        response = self.client.post(self.at(step), fields, **HTMX)
        assert response.status_code == 200, response.content
        answer: str = response.content.decode()
        self._shows(answer)
        return answer

    def _shows(self, answer: str) -> None:
        """Put the draft's new version into the page, as JavaScript does."""
        version = re.search(r'data-version="(\d+)"', answer)
        assert version
        self.page = re.sub(r'(?<=name="version" value=")\d+', version[1], self.page)

    def type(self, step: int, /, **fields: Any) -> str:
        """Save fields as JavaScript does during a pause in typing."""
        return self.save(step, **fields, typing="1")

    def at(self, step: int) -> str:
        """Return the address of a step of the draft."""
        return f"/workloads/drafts/{self.draft.pk}/{step}/"

    def _take(self, response: Any) -> "Wizard":
        self.page = response.content.decode()
        self.status = response.status_code
        self.address = response.request["PATH_INFO"]
        query = response.request["QUERY_STRING"]
        self.full_address = f"{self.address}?{query}" if query else self.address
        return self

    @property
    def draft(self) -> Draft:
        return Draft.objects.filter(owner=self.user).latest("updated_at")

    def ready(self, name: str = "train", **changes: Any) -> "Wizard":
        """Create a draft with everything filled in, without opening a page."""
        project = Project.objects.visible_to(self.user).get()
        chosen = {
            "environment": str(EnvironmentFactory(home=project, name=f"env-{name}").pk),
            "compute": str(ComputeResourceFactory(home=project, name=f"compute-{name}").pk),
        }
        place = {"cluster": str(project.cluster_id), "project": project.pk}
        document = {
            "name": name,
            **place,
            "worker": {"assets": chosen},
            "values": {"numWorkers": 2},
        }
        Draft.objects.create(owner=self.user, document=document | changes)
        return self

    def plan(self) -> Plan:
        return plan(self.draft.content, by=self.user)

    @property
    def environment(self) -> Environment:
        return Environment.objects.latest("created_at")

    @property
    def compute(self) -> ComputeResource:
        return ComputeResource.objects.latest("created_at")
