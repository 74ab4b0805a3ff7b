"""The page that shows the OpenAPI document, and on which calls can be tried."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
@login_required
def api_reference(request: HttpRequest) -> HttpResponse:
    return render(request, "api_reference.html")
