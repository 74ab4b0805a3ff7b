"""Which users each page lets in. A new address needs its row in the table."""

import pytest

from tests.access.asking import Asker, differences, pages
from tests.access.population import PEOPLE, Population

#: By who asks (nobody, outsider, stranger, colleague, author, administrator), for GET and POST.
#: An object of others is 404. A user who may do this nowhere gets 403 before anything is looked up.
#: ``tests/access/asking.py`` explains the signs. Forms are sent empty.
TABLE = r"""
!!!!!! 555555 /healthz
++++++ ++++++ /
++++++ ++++++ /accounts/login/
++++++ 555555 /accounts/inactive/
++++++ 555555 /health/notice/
1+++++ 1+++++ /access-keys/
1+++++ 555555 /notifications/
++++++ 555555 /notifications/bell/
1+++++ 555555 /notifications/settings/
1+++++ 1????? /notifications/settings/new/
1444+4 1444?4 /notifications/settings/<uuid:pk>/edit/
1444+4 1444+4 /notifications/settings/<uuid:pk>/delete/
1444+4 555555 /notifications/<int:pk>/
555555 1+++++ /notifications/read/
1+++++ 1+++++ /accounts/password/change/
1+++++ 1+++++ /styleguide/
1+++++ 555555 /api-reference/
1+++++ 1+++++ /workloads/export.csv
1+++++ 555555 /compute-resources/export.csv
1+++++ 555555 /credentials/export.csv
1+++++ 555555 /data-sources/export.csv
1+++++ 555555 /environments/export.csv
1+++++ 555555 /templates/export.csv
1+++++ 111111 /accounts/logout/
1+++++ 155555 /palette/
1+++++ 155555 /workloads/
1+++++ 155555 /workloads/filter/
1+++++ 155555 /workloads/matching/
1+++++ 155555 /workloads/new/
1+++++ 155555 /workloads/rows/
1+++++ 1????? /access-keys/new/
1+++++ 1????? /workloads/new/batch-script/
1+++++ 1????? /device/
13++++ 13???? /compute-resources/new/
1+++++ 1????? /credentials/new/
13++++ 13???? /data-sources/new/
13++++ 13???? /environments/new/
1+++++ 555555 /clusters/
1+++++ 555555 /compute-resources/
1+++++ 555555 /credentials/
1+++++ 555555 /data-sources/
1+++++ 555555 /environments/
1+++++ 555555 /projects/
1+++++ 555555 /templates/
111111 555555 /tools/auth/<uuid:pk>/<slug:slug>/
13333+ 13333+ /clusters/<uuid:pk>/node-pools/<int:pool>/delete/
13333+ 13333+ /groups/<int:pk>/delete/
13333+ 13333+ /groups/<int:pk>/edit/
13333+ 133335 /audit/
13333+ 13333? /clusters/<uuid:pk>/delete/
13333+ 13333? /clusters/<uuid:pk>/node-pools/<int:pool>/
13333+ 13333? /clusters/<uuid:pk>/node-pools/new/
13333+ 13333? /clusters/new/
13333+ 13333? /departments/<int:pk>/delete/
13333+ 13333? /departments/<int:pk>/edit/
13333+ 13333? /departments/new/
13333+ 13333? /groups/new/
13333+ 13333? /projects/<int:pk>/delete/
13333+ 13333? /projects/<int:pk>/edit/
13333+ 13333? /projects/new/
13333+ 13333+ /users/<int:pk>/edit/
1333++ 555555 /users/<int:pk>/access/
13333+ 13333+ /access-rules/<int:pk>/delete/
13333+ 13333+ /roles/<int:pk>/delete/
13333+ 13333+ /service-accounts/<int:pk>/delete/
13333+ 13333+ /service-accounts/<int:pk>/secret/
13333+ 13333? /roles/<int:pk>/edit/
13333+ 13333? /roles/new/
13333+ 13333? /service-accounts/new/
13333+ 555555 /roles/
13333+ 555555 /service-accounts/
14433+ 14433? /access/<str:scope>/new/
14433+ 555555 /access/<str:scope>/
13333+ 13333? /users/<int:pk>/password/
13333+ 13333? /users/new/
13333+ 13333+ /settings/
13333+ 13333? /mail-server/
13333+ 13333+ /mail-server/delete/
13++++ 555555 /webhooks/
13++++ 13???? /webhooks/new/
134+++ 555555 /webhooks/<uuid:pk>/
134+++ 134??? /webhooks/<uuid:pk>/edit/
134+++ 134+++ /webhooks/<uuid:pk>/delete/
134+++ 134+++ /webhooks/<uuid:pk>/secret/
134+++ 555555 /webhooks/<uuid:pk>/deliveries/<uuid:delivery>/
555555 134+++ /webhooks/<uuid:pk>/deliveries/<uuid:delivery>/resend/
555555 134+++ /webhooks/<uuid:pk>/test/
13333+ 13333+ /policies/<uuid:pk>/delete/
13333+ 13333+ /policies/<uuid:pk>/edit/
13333+ 13333+ /policies/new/
13++++ 555555 /policies/
134+++ 555555 /policies/<uuid:pk>/
134+++ 555555 /projects/<int:pk>/policy/
13333+ 555555 /clusters/<uuid:pk>/connection/
13333+ 555555 /clusters/rights.yaml
13333+ 555555 /clusters/tests/<uuid:pk>/
13333+ 555555 /departments/
13333+ 555555 /groups/
13333+ 555555 /users/
133334 133334 /clusters/<uuid:pk>/edit/
144+++ 144+++ /compute-resources/<uuid:pk>/delete/
144+++ 144+++ /credentials/<uuid:pk>/delete/
144+++ 144+++ /data-sources/<uuid:pk>/delete/
144+++ 144+++ /environments/<uuid:pk>/delete/
144+++ 144+++ /templates/<uuid:pk>/delete/
144+++ 144+++ /workloads/<uuid:pk>/copy/
144+++ 144+++ /workloads/<uuid:pk>/delete/
144+++ 144+++ /workloads/<uuid:pk>/logs/download/
144+++ 144+++ /workloads/<uuid:pk>/stop/
144+++ 144??? /workloads/<uuid:pk>/extend/
144+++ 144??? /compute-resources/<uuid:pk>/copy/
144+++ 144??? /credentials/<uuid:pk>/copy/
144+++ 144??? /data-sources/<uuid:pk>/copy/
144+++ 144??? /compute-resources/<uuid:pk>/edit/
144+++ 144??? /credentials/<uuid:pk>/edit/
144+++ 144??? /data-sources/<uuid:pk>/edit/
144+++ 144??? /environments/<uuid:pk>/copy/
144+++ 144??? /environments/<uuid:pk>/edit/
144+++ 144??? /templates/<uuid:pk>/copy/
144+++ 144??? /templates/<uuid:pk>/edit/
144+++ 144??? /workloads/<uuid:pk>/run/
144+++ 144??? /workloads/<uuid:pk>/template/
144+++ 155555 /workloads/<uuid:pk>/
144+++ 155555 /workloads/<uuid:pk>/connect/
144+++ 155555 /workloads/<uuid:pk>/events/
144+++ 155555 /workloads/<uuid:pk>/header/
144+++ 155555 /workloads/<uuid:pk>/logs/
144+++ 155555 /workloads/<uuid:pk>/logs/lines/
144+++ 155555 /workloads/<uuid:pk>/logs/search/
144+++ 155555 /workloads/<uuid:pk>/menu/
144+++ 155555 /workloads/<uuid:pk>/metrics/
144+++ 155555 /workloads/<uuid:pk>/metrics/data/
144+++ 155555 /workloads/<uuid:pk>/ranks/
144+++ 155555 /workloads/<uuid:pk>/spec/
144+++ 155555 /workloads/<uuid:pk>/terminal/
144+++ 555555 /clusters/<uuid:pk>/
144+++ 555555 /clusters/<uuid:pk>/node-pools/
144+++ 555555 /clusters/<uuid:pk>/nodes/
144+++ 555555 /clusters/<uuid:pk>/nodes/<int:node>/
144+++ 555555 /clusters/<uuid:pk>/scheduling/
144+++ 555555 /compute-resources/<uuid:pk>/versions/
144+++ 555555 /credentials/<uuid:pk>/versions/
144+++ 555555 /data-sources/<uuid:pk>/versions/
144+++ 555555 /environments/<uuid:pk>/versions/
144+++ 555555 /templates/<uuid:pk>/versions/
144+++ 555555 /compute-resources/<uuid:pk>/
144+++ 555555 /credentials/<uuid:pk>/
144+++ 555555 /data-sources/<uuid:pk>/
144+++ 555555 /environments/<uuid:pk>/
144+++ 555555 /projects/<int:pk>/
144+++ 555555 /templates/<uuid:pk>/
1444+4 1444+4 /access-keys/<int:pk>/delete/
1444+4 1444+4 /workloads/drafts/<uuid:pk>/<int:step>/
1444+4 1444?4 /workloads/drafts/<uuid:pk>/template/
1444+4 1444?4 /workloads/drafts/<uuid:pk>/yaml/
1444+4 155555 /workloads/drafts/<uuid:pk>/<int:step>/gallery/<slug:name>/
1444+4 155555 /workloads/drafts/<uuid:pk>/people/
1444+4 155555 /workloads/drafts/<uuid:pk>/credentials/
144444 144444 /workloads/<uuid:pk>/purge/
144??? 155555 /tools/signin/<uuid:pk>/<slug:slug>/
144??? 155555 /workloads/<uuid:pk>/connect/<slug:slug>/
155555 1+++++ /workloads/views/
155555 1444+4 /workloads/drafts/<uuid:pk>/discard/
155555 1444+4 /workloads/views/<int:pk>/delete/
155555 1????? /workloads/bulk/
3+++++ 555555 /stream/
444444 444444 /^(api|v1)/(?P<rest>.*)$
444444 444444 /^accounts/(?!(?:login|logout|inactive|password/change)/?$|oidc/|3rdparty/login/)
555555 144+++ /compute-resources/<uuid:pk>/versions/<int:number>/restore/
555555 144+++ /credentials/<uuid:pk>/versions/<int:number>/restore/
555555 144+++ /data-sources/<uuid:pk>/versions/<int:number>/restore/
555555 144+++ /environments/<uuid:pk>/versions/<int:number>/restore/
555555 144+++ /templates/<uuid:pk>/versions/<int:number>/restore/
555555 13333+ /clusters/<uuid:pk>/test/
555555 13333+ /users/<int:pk>/activity/
555555 13333+ /service-accounts/<int:pk>/activity/
"""


def test_each_page_answers_a_stranger_as_the_table_says(population: Population) -> None:
    """One column of the table: all of them take half a minute."""
    asker = Asker(population)
    column = PEOPLE.index("stranger")
    rows = [row.split(maxsplit=2) for row in TABLE.strip().splitlines()]
    expected = {path: opened[column] for opened, _, path in rows}
    assert {f"/{path}": asker.page("stranger", "GET", path) for path in pages()} == expected
    assert not asker.faults, "\n".join(asker.faults)


@pytest.mark.extended
def test_pages_let_in_whom_the_table_says(population: Population) -> None:
    asker = Asker(population)
    observed = []
    for path in pages():
        shown, posted = (
            "".join(asker.page(who, method, path) for who in PEOPLE) for method in ("GET", "POST")
        )
        observed.append(f"{shown} {posted} /{path}")
    assert not (wrong := differences(observed, TABLE)), f"not as in the table:\n{wrong}"
    assert not asker.faults, "\n".join(asker.faults)


@pytest.mark.extended
def test_no_other_method_does_anything_to_what_is_of_others(population: Population) -> None:
    asker = Asker(population)
    for path in pages():
        for method in ("PUT", "PATCH", "DELETE", "OPTIONS"):
            asker.page("stranger", method, path)
    assert not asker.faults, "\n".join(asker.faults)
