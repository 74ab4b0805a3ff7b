"""The pages of allauth that Trainyard does not have."""

from django.http import Http404, HttpRequest, HttpResponse

#: All pages of allauth except those in this expression. There is no sign-up and no mail:
#: administrators create users and reset passwords. Users cannot change their email addresses,
#: because tools let users in by them. A user of the identity provider cannot set a password, which
#: would still work when the provider no longer lets the user in. A local account cannot be
#: connected to the provider.
CLOSED_PAGES = r"^accounts/(?!(?:login|logout|inactive|password/change)/?$|oidc/|3rdparty/login/)"


def closed_page(request: HttpRequest) -> HttpResponse:
    raise Http404("Trainyard does not have this page of allauth's")
