"""``POST /api/v2/token``: get the same tokens with a form, as in OAuth 2."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pydantic.alias_generators import to_camel

from accounts.api.tokens import GRANTS, TokenRequest, tokens_for_credentials
from core.rest.api import LONGEST_STRING, ApiError, Issue, unreadable_request
from core.text import text_fault

FIELDS = ("username", "password", "client_id", "client_secret", "refresh_token")
REQUIRED = {
    "password": ("username", "password"),
    "refresh_token": ("refresh_token",),
    "client_credentials": ("client_id", "client_secret"),
    "app_token": ("client_id", "client_secret"),
}


@csrf_exempt  # the credentials are in the request, not in a cookie
@require_POST
def create_token_by_form(request: HttpRequest) -> HttpResponse:
    """Answer with a token as OAuth 2 does, or with an error as the API does."""
    try:
        granted = tokens_for_credentials(request, _parse_form(request))
    except ApiError as error:
        response = JsonResponse(error.body(), status=error.code)
        if error.retry_after:
            response["Retry-After"] = str(error.retry_after)
        return response
    return JsonResponse(
        {
            "access_token": granted.access,
            "token_type": "Bearer",
            "expires_in": granted.expires_in,
            "refresh_token": granted.refresh,
        }
    )


def _parse_form(request: HttpRequest) -> TokenRequest:
    """Return the request in the form. ``ApiError`` 400 lists every problem in it."""
    grant = request.POST.get("grant_type", "")
    if grant not in GRANTS:
        details = f"must be one of {', '.join(GRANTS)}"
        raise unreadable_request([Issue(field="grant_type", details=details, rule="options")])
    values = {name: request.POST.get(name, "") for name in FIELDS}
    issues = [
        Issue(field=name, details="is required", rule="required")
        for name in REQUIRED[grant]
        if not values[name]
    ]
    for name in FIELDS:
        fault = text_fault(values[name])
        if fault:
            issues.append(Issue(field=name, details=fault))
    issues += [
        Issue(field=name, details=f"has at most {LONGEST_STRING} characters", rule="max")
        for name in FIELDS
        if len(values[name]) > LONGEST_STRING
    ]
    if issues:
        raise unreadable_request(issues)
    values["grant_type"] = grant
    return TokenRequest.model_validate({to_camel(name): text for name, text in values.items()})
