"""The style guide: every component with made-up values."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone

from core.forms.field import Cell, Field, Input
from core.forms.form import Form

FIELDS = (
    Field("name", "Name", hint="Lower-case letters.", required=True),
    Field("units", "Units", Input.SELECT, options=(("MB", "MB"), ("GB", "GB"))),
    Field("note", "Description", Input.LINES),
    Field(
        "shared",
        "Increase shared memory",
        Input.FLAG,
        "More than 64 MB of /dev/shm.",
    ),
    Field(
        "resources",
        "Extended resources",
        Input.ROWS,
        add="Extended resource",
        cells=(
            Cell("resource", "Resource"),
            Cell("quantity", "Quantity"),
            Cell("users", "Users", Input.NAMES, adds=(("", "User"),)),
        ),
    ),
)
CARD = {
    "title": "pytorch-dt",
    "address": "#",
    "facts": (("box", "Image", "kubeflow/pytorch-dist-mnist:latest"), ("cpu", "CPU", "0.1")),
    "chips": (("PyTorch", "accent"), ("Project team-a", "neutral")),
    "menu": (("Edit", "#", "pencil"), ("Delete…", "#", "trash")),
    "foot": "Used by 2 workloads",
}
#: What of a quota of 8 GPUs is used and lent, in percent of the bar.
QUOTA_BAR = {
    "label": "GPUs",
    "text": "4 of 8",
    "segments": (
        {"kind": "used", "start": 0, "width": 50, "text": "4", "label": "used"},
        {"kind": "lent", "start": 50, "width": 25, "text": "2", "label": "lent"},
    ),
}


@login_required
def styleguide(request: HttpRequest) -> HttpResponse:
    context = {
        "form": sample_form(),
        "now": timezone.now(),
        "page": Paginator(range(95), 20).page(2),
        "tones": ("neutral", "info", "success", "warning", "danger", "accent"),
        "facts": (("Image", "kubeflow/pytorch-dist-mnist:latest"), ("Scope", "Project team-a")),
        "tabs": (
            ("one", "Overview", "#one"),
            ("two", "Logs", "#two"),
            ("three", "Events", "#three"),
        ),
        "cards": (
            ("box", CARD | {"text": "PyTorch with the MNIST example."}),
            ("cpu", CARD | {"title": "small-fraction", "menu": (), "foot": ""}),
        ),
        "quota_bar": QUOTA_BAR,
        "diff": (("", "image: a"), ("removed", "workers: 2"), ("added", "workers: 4")),
        "yaml": "worker:\n  image: kubeflow/pytorch-dist-mnist:latest\n",
    }
    return render(request, "core/styleguide.html", context)


def sample_form() -> Form:
    """A form with an error in a field and one in a cell."""
    form = Form(FIELDS, {}, QueryDict("name=Not valid&units=MB&resources-0-resource=a/b"))
    form.add_problems(
        [
            (("name",), "must contain only lower-case letters"),
            (("resources", 0, "quantity"), "is required"),
        ]
    )
    return form
