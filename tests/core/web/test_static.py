"""Static files: one piece each, and the browser's conditions are honoured."""

from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client

SCRIPT = "/static/django_htmx/htmx-2.min.js"


def test_a_file_comes_in_one_piece(client: Client) -> None:
    answer = client.get(SCRIPT)
    assert answer.status_code == 200
    assert not answer.streaming
    assert answer["Content-Type"].startswith("text/javascript")
    assert b"htmx" in answer.content


def test_static_files_are_the_same_under_asgi(client: Client) -> None:
    answer = async_to_sync(AsyncClient().get)(SCRIPT)
    assert not answer.streaming
    assert answer.content == client.get(SCRIPT).content


def test_an_unchanged_file_is_not_sent_again(client: Client) -> None:
    tag = client.get(SCRIPT)["ETag"]
    answer = client.get(SCRIPT, headers={"If-None-Match": tag})
    assert answer.status_code == 304
    assert answer.content == b""


def test_a_part_of_a_file(client: Client) -> None:
    answer = client.get(SCRIPT, headers={"Range": "bytes=0-3"})
    assert answer.status_code == 206
    assert answer.content == client.get(SCRIPT).content[:4]


def test_a_missing_static_file_is_not_found(client: Client) -> None:
    assert client.get("/static/none.js").status_code == 404


def test_files_are_read_only(client: Client) -> None:
    assert client.post(SCRIPT).status_code == 405
