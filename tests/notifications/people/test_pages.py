"""The bell, the list of notifications, and what a person subscribes to."""

import pytest
from django.test import Client

from accounts.models import User
from notifications.models import Notification, Subscription
from projects.models import Project
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory, add_members
from tests.notifications.factories import NotificationFactory, SubscriptionFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]
SETTINGS = "/notifications/settings/"


@pytest.fixture
def project() -> Project:
    return ProjectFactory(name="vision")


@pytest.fixture
def person(project: Project, client: Client) -> User:
    user = UserFactory(username="ada")
    add_members(project, user)
    client.force_login(user)
    return user


def add_notification(person: User, project: Project, **columns: object) -> Notification:
    workload = WorkloadFactory(project=project, created_by=person, failed=True)
    return NotificationFactory(workload=workload, **columns)


def test_the_bell_counts_what_is_unread(client: Client, person: User, project: Project) -> None:
    assert "unread" not in client.get("/notifications/bell/").text
    add_notification(person, project)
    add_notification(person, project)
    assert "Notifications, 2 unread" in client.get("/projects/").text
    client.post("/notifications/read/")
    assert "Notifications, " not in client.get("/notifications/bell/").text


def test_the_bell_stays_as_it_is_after_a_sign_out(client: Client) -> None:
    assert client.get("/notifications/bell/").status_code == 204


def test_following_a_notification_leads_to_the_workload_and_reads_it(
    client: Client, person: User, project: Project
) -> None:
    notification = add_notification(person, project)
    other = add_notification(person, project)
    answer = client.get(f"/notifications/{notification.pk}/")
    assert answer["Location"] == f"/workloads/{notification.workload_id}/"
    unread = Notification.objects.unread()
    assert unread.get() == other


def test_a_prefetch_reads_nothing(client: Client, person: User, project: Project) -> None:
    notification = add_notification(person, project)
    client.get(f"/notifications/{notification.pk}/", headers={"Sec-Purpose": "prefetch"})
    assert Notification.objects.unread().exists()


def test_one_notification_is_marked_as_read_and_the_list_can_show_the_rest(
    client: Client, person: User, project: Project
) -> None:
    first = add_notification(person, project, title="first failed")
    add_notification(person, project, title="second failed")
    client.post("/notifications/read/", {"notification": str(first.pk)})
    unread = client.get("/notifications/?unread=yes").text
    assert "second failed" in unread
    assert "first failed" not in unread
    assert "first failed" in client.get("/notifications/").text


def test_nobody_reads_the_notifications_of_others(
    client: Client, person: User, project: Project
) -> None:
    theirs = NotificationFactory(title="secret failed")
    assert "secret" not in client.get("/notifications/").text
    assert client.get(f"/notifications/{theirs.pk}/").status_code == 404
    client.post("/notifications/read/", {"notification": str(theirs.pk)})
    client.post("/notifications/read/")
    assert Notification.objects.unread().get() == theirs


def test_settings_begin_with_what_everyone_is_told(client: Client, person: User) -> None:
    shown = client.get(SETTINGS).text
    assert "Until you subscribe to anything" in shown
    assert "Failed" in shown
    assert not Subscription.objects.exists()


def test_a_person_subscribes_changes_it_and_ends_it(
    client: Client, person: User, project: Project
) -> None:
    form = {
        "project": str(project.pk),
        "kinds": ["workspace"],
        "events": ["workload.failed"],
        "pending_minutes": "5",
    }
    assert client.post(f"{SETTINGS}new/", form)["Location"] == SETTINGS
    row = Subscription.objects.get()
    assert (row.user, row.project, row.kinds) == (person, project, ["workspace"])
    assert (row.events, row.pending_minutes, row.mail) == (["workload.failed"], 5, False)
    client.post(f"{SETTINGS}{row.pk}/edit/", form | {"project": "mine", "events": []})
    row.refresh_from_db()
    assert (row.project, row.events) == (None, [])
    client.post(f"{SETTINGS}{row.pk}/delete/")
    assert not Subscription.objects.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kinds": []}, "Choose at least one kind."),
        ({"pending_minutes": "0"}, "greater than or equal to 1"),
        ({"events": ["workload.exploded"]}, "Select a valid choice"),
        ({"mail": "on"}, "You have no email address."),
    ],
)
def test_wrong_values_are_named_at_their_field(
    client: Client, person: User, change: dict[str, object], message: str
) -> None:
    form = {"project": "mine", "kinds": ["workspace"], "events": [], "pending_minutes": "5"}
    answer = client.post(f"{SETTINGS}new/", form | change)
    assert answer.status_code == 422
    assert message in answer.text
    assert not Subscription.objects.exists()


def test_nobody_follows_a_project_of_others(client: Client, person: User) -> None:
    form = {"project": str(ProjectFactory().pk), "kinds": ["workspace"], "pending_minutes": "5"}
    assert client.post(f"{SETTINGS}new/", form).status_code == 422
    theirs = SubscriptionFactory()
    assert client.get(f"{SETTINGS}{theirs.pk}/edit/").status_code == 404
    assert client.post(f"{SETTINGS}{theirs.pk}/delete/").status_code == 404
