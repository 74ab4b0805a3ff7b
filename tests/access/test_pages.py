"""Each page takes the permission that its address tells, and reveals nothing without it."""

import pytest

from tests.access.asking import Asker, is_refusal, pages
from tests.access.needs import ANYONE, need_of_page
from tests.access.population import Population

METHODS = ("GET", "POST")
#: The form that signs out leads to the page that signs in, and the stream of changes refuses.
NOT_A_REFUSAL = {("accounts/logout/", "POST"): "1"}
CLOSED_TO_NOBODY = {"1", "4", "5"}
STREAM = "stream/"


def test_each_page_is_refused_without_what_its_address_tells(population: Population) -> None:
    asker = Asker(population)
    wrong = []
    for route in pages():
        for method in METHODS:
            need = need_of_page(route, method)
            who = asker.without(need)
            sign = asker.page(who, method, route)
            is_right = is_refusal(sign, need, asker.text)
            if sign != "5" and not is_right and sign != NOT_A_REFUSAL.get((route, method)):
                wrong.append(f"{method} /{route}: {who} gets {sign}")
    assert not wrong, "\n".join(wrong)
    assert not asker.faults, "\n".join(asker.faults)


def test_pages_are_closed_to_those_who_have_not_signed_in(population: Population) -> None:
    asker = Asker(population)
    for route in pages():
        if need_of_page(route, "GET") != ANYONE:
            signs = {asker.page("nobody", method, route) for method in METHODS}
            assert signs <= ({"3", "5"} if route == STREAM else CLOSED_TO_NOBODY), route
    assert not asker.faults, "\n".join(asker.faults)


def test_a_page_whose_address_names_no_resource_has_to_be_listed() -> None:
    with pytest.raises(AssertionError, match="does not tell the permission"):
        need_of_page("spaceships/<int:pk>/", "GET")
    with pytest.raises(AssertionError, match="does not tell the permission"):
        need_of_page("audit/<int:pk>/delete/", "POST")


@pytest.mark.extended
def test_no_other_method_does_anything_to_what_is_of_others(population: Population) -> None:
    asker = Asker(population)
    for path in pages():
        for method in ("PUT", "PATCH", "DELETE", "OPTIONS"):
            asker.page("stranger", method, path)
    assert not asker.faults, "\n".join(asker.faults)
