"""URLs of this package: those of each room, and the event stream that all pages share."""

from django.urls import URLPattern, path

from workloads.compare import urls as compare
from workloads.detail import urls as detail
from workloads.home import urls as home
from workloads.live import stream_changes
from workloads.logs import urls as logs
from workloads.metrics import urls as metrics
from workloads.policies import urls as policies
from workloads.queue import urls as queue
from workloads.scripts import urls as scripts
from workloads.table import urls as table
from workloads.tools import urls as tools
from workloads.wizard import urls as wizard

urlpatterns: list[URLPattern] = [
    *home.urlpatterns,
    *table.urlpatterns,
    *compare.urlpatterns,
    *scripts.urlpatterns,
    *wizard.urlpatterns,
    *detail.urlpatterns,
    *logs.urlpatterns,
    *metrics.urlpatterns,
    *tools.urlpatterns,
    *policies.urlpatterns,
    *queue.urlpatterns,
    path("stream/", stream_changes, name="stream"),
]
