"""Of allauth's pages, those that are not there."""

from django.http import Http404, HttpRequest, HttpResponse

#: All but these. Nobody signs up, and Trainyard sends no mail: an administrator makes users and
#: resets passwords. An email address is an administrator's or the identity provider's word, as
#: tools let in by it. Whoever comes by the provider gets no password beside it, which would still
#: open Trainyard when the provider does not let them in any more; nor does a local account get a
#: second way in.
CLOSED_PAGES = r"^accounts/(?!(?:login|logout|inactive|password/change)/?$|oidc/|3rdparty/login/)"


def closed_page(request: HttpRequest) -> HttpResponse:
    raise Http404("Trainyard does not have this page of allauth's")
