"""Each REST call takes the permission that its address tells, and reveals nothing without it."""

import pytest

from tests.access.asking import Asker, calls, is_refusal
from tests.access.needs import ANYONE, need_of_call
from tests.access.population import Population

#: A key cannot make keys, or change a password.
CLOSED_TO_KEYS = {
    *("POST /access-keys", "POST /access-keys/{key_id}/secret", "POST /me/password"),
}


def test_each_call_is_refused_without_what_its_address_tells(population: Population) -> None:
    asker = Asker(population)
    wrong = []
    for path, method in calls():
        need = need_of_call(path, method)
        who = asker.without(need)
        sign = asker.call(who, method, path)
        if not is_refusal(sign, need, asker.text):
            wrong.append(f"{method} {path}: {who} gets {sign}")
    assert not wrong, "\n".join(wrong)
    assert not asker.faults, "\n".join(asker.faults)


def test_a_call_whose_address_names_no_resource_has_to_be_listed() -> None:
    with pytest.raises(AssertionError, match="does not tell the permission"):
        need_of_call("/api/v1/spaceships", "POST")


@pytest.mark.extended
@pytest.mark.parametrize("who", ["nobody", "cookie"])
def test_calls_are_closed_to_those_who_send_no_token(population: Population, who: str) -> None:
    """The session of a browser is none: another site could use it."""
    asker = Asker(population)
    for path, method in calls():
        if need_of_call(path, method) != ANYONE and path != "/api/v1/device-sign-ins/key":
            assert asker.call(who, method, path) == "1", f"{method} {path}"
    assert not asker.faults, "\n".join(asker.faults)


@pytest.mark.extended
def test_an_access_key_does_what_its_owner_may_except_for_keys(population: Population) -> None:
    asker = Asker(population)
    for path, method in calls():
        call = f"{method} {path.removeprefix('/api/v1')}"
        own, by_key = (asker.call(who, method, path) for who in ("author", "key of author"))
        assert by_key == ("3" if call in CLOSED_TO_KEYS else own), call
    assert not asker.faults, "\n".join(asker.faults)
