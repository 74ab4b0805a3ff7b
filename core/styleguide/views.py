"""The style guide: every component with made-up values."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from core.styleguide.values import sample

CARD = {
    "title": "pytorch-dt",
    "address": "#",
    "facts": (("box", "Image", "kubeflow/pytorch-dist-mnist:latest"), ("cpu", "CPU", "0.1")),
    "chips": (("PyTorch", "accent"), ("Project team-a", "neutral")),
    "menu": (("Edit", "#", "pencil"), ("Delete…", "#", "trash")),
    "foot": "Used by 2 workloads",
}


@login_required
def styleguide(request: HttpRequest) -> HttpResponse:
    context = {
        "form": sample(),
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
        "yaml": "worker:\n  image: kubeflow/pytorch-dist-mnist:latest\n",
    }
    return render(request, "core/styleguide.html", context)
