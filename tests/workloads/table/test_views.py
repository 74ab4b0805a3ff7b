"""Saved views."""

from django.test import Client

from accounts.models import User
from tests.web import signed_in
from workloads.models import SavedView


def test_a_view_keeps_the_address_under_a_name(client: Client, member: User) -> None:
    data = {"name": "Mine", "query": "f=creator:is:maria"}
    answer = client.post("/workloads/views/", data, follow=True)
    assert answer.redirect_chain[0][0] == "/workloads/?f=creator:is:maria"
    assert "Mine" in answer.content.decode()
    client.post("/workloads/views/", {"name": "Mine", "query": "q=x"})
    assert SavedView.objects.get(owner=member).query == "q=x"


def test_a_name_that_cannot_be_one_is_told(client: Client, db: None) -> None:
    for name in ("", "x" * 64):
        answer = client.post("/workloads/views/", {"name": name}, follow=True)
        assert "Give the view a name" in answer.content.decode()
    assert not SavedView.objects.exists()


def test_a_view_is_its_owners_alone(client: Client, member: User, stranger: User) -> None:
    view = SavedView.objects.create(owner=member, name="Favourites", query="q=x")
    other = signed_in(stranger)
    assert other.post(f"/workloads/views/{view.pk}/delete/").status_code == 404
    assert "Favourites" not in other.get("/workloads/").content.decode()
    client.post(f"/workloads/views/{view.pk}/delete/")
    assert not SavedView.objects.exists()


def test_a_saved_view_leads_to_no_other_site(client: Client, db: None) -> None:
    answer = client.post("/workloads/views/", {"name": "x", "query": "//evil.example/"})
    assert answer["Location"].startswith("/workloads/?")
