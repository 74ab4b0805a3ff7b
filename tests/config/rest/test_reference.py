"""The page that shows the OpenAPI document."""

import pytest
from django.contrib.staticfiles import finders
from django.urls import reverse

from tests.described import document
from tests.factories import UserFactory
from tests.web import signed_in

PAGE = "/api-reference/"


@pytest.mark.django_db
def test_the_reference_draws_the_document_from_files_of_ours() -> None:
    client = signed_in(UserFactory.create())
    answer = client.get(PAGE)
    page = answer.content.decode()
    assert f'data-document="{reverse("api:openapi-json")}"' in page
    assert "script-src 'self'" in answer["Content-Security-Policy"]
    for file in ("vendor/swagger-ui/swagger-ui-bundle.js", "vendor/swagger-ui/swagger-ui.css"):
        assert finders.find(file)
        assert f"/static/{file.rpartition('.')[0]}" in page
    assert f'href="{PAGE}"' in client.get("/workloads/").content.decode()


def test_a_token_is_asked_for_once() -> None:
    assert list(document()["components"]["securitySchemes"]) == ["Bearer"]
