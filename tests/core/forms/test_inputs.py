"""Radio buttons, secrets and uploads: what goes out, what comes back, and what stays here."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import QueryDict
from django.template.loader import render_to_string

from core.forms.field import Field, Input
from core.forms.form import Form
from core.forms.words import field_sentence

SECRET = "s3cret"
FIELDS = (
    Field("way", "Way", Input.RADIO, "Either.", choices="ways", required=True),
    Field("key", "Key", Input.SECRET),
    Field("config", "Config", Input.SECRET_LINES, literal=True),
    Field("file", "File", Input.FILE),
)
WAYS = {"ways": [("road", "By road"), ("rail", "By rail")]}


def form(query: str | None, **files: bytes) -> Form:
    uploads = {name: SimpleUploadedFile(name, content) for name, content in files.items()}
    values = {"way": "road", "key": SECRET, "config": SECRET}
    posted = None if query is None else QueryDict(query)
    return Form(FIELDS, values, posted, files=uploads, offered=WAYS)


def page_of(asked: Form) -> str:
    return render_to_string("components/inputs.html", {"form": asked})


def test_radio_buttons_have_one_chosen() -> None:
    for query, chosen in ((None, "id_way_0"), ("way=rail", "id_way_1")):
        before, _, _ = page_of(form(query)).partition(" checked")
        assert before.count('type="radio"') == int(chosen[-1]) + 1
        assert chosen in before.rsplit("<input", 1)[1]


@pytest.mark.parametrize(
    ("query", "said"), [("", "Way is required."), ("way=sea", "sea is not one of")]
)
def test_a_way_that_is_not_offered_is_refused_and_none_is_chosen(query: str, said: str) -> None:
    page = page_of(form(query))
    assert said in page
    assert " checked" not in page
    assert page.count('aria-invalid="true"') == len(WAYS["ways"])


@pytest.mark.parametrize("query", [None, f"way=sea&key={SECRET}&config={SECRET}%0D%0Ax"])
def test_no_page_gives_a_secret_back(query: str | None) -> None:
    assert SECRET not in page_of(form(query))


def test_a_secret_of_several_lines_is_kept_as_typed() -> None:
    assert form("way=rail&config=a%0D%0A b%0D%0A").document() == {
        "way": "rail",
        "config": "a\n b\n",
    }


def test_an_upload_is_beside_the_document() -> None:
    asked = form("way=rail&file=typed", file=b"content")
    assert asked.files["file"].read() == b"content"
    assert "file" not in asked.document()
    (box,) = [tag for tag in page_of(asked).split("<") if 'type="file"' in tag]
    assert "value=" not in box


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Name", "Name is required."),
        ("Arguments", "Arguments are required."),
        ("Environment variables", "Environment variables are required."),
        ("Processes per pod", "Processes per pod are required."),
        ("Number of workers", "Number of workers is required."),
        ("Storage class", "Storage class is required."),
        ("Status", "Status is required."),
    ],
)
def test_a_sentence_agrees_with_its_field(label: str, said: str) -> None:
    assert field_sentence("is required", label) == said
