"""The root URLconf. Each package adds its own ``urls.py``; REST is in ``config.rest.api``."""

from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.decorators.csrf import csrf_exempt

from accounts.api.oauth import create_token_by_form
from accounts.views.sign_in import CLOSED_PAGES, closed_page
from config.health import health_notice, healthz
from config.refusals import forbidden
from config.rest.api import answer_unknown_path, api
from config.rest.reference import api_reference
from config.rest.storage_errors import internal_error
from core.styleguide import styleguide

#: REST views by operation name, for calls that Run:ai also serves under another path, such as v2.
views_by_name = {it.name: it.callback for it in api.urls[0] if isinstance(it, URLPattern)}

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz, name="healthz"),
    path("health/notice/", health_notice, name="health-notice"),
    path("api/v1/", api.urls),
    path("api/v2/token", create_token_by_form, name="oauth-token"),
    path("api/v2/storage-classes", views_by_name["storage-class-details"]),
    path("api/v2/workloads", views_by_name["manifests"]),
    path("api/v2/workloads/<uuid:workload_id>", views_by_name["manifest"]),
    path("api/v2/policy", views_by_name["policies"]),
    path("api/v2/policy/distributed", views_by_name["distributed-policy"]),
    path("api/v2/policy/trainings", views_by_name["training-policy"]),
    path("api/v2/policy/workspaces", views_by_name["workspace-policy"]),
    path("api/v2/authorization/roles", views_by_name["access-roles"]),
    path("api/v2/authorization/roles/<int:role_id>", views_by_name["access-role"]),
    path("api/v2/authorization/permission-sets", views_by_name["permission-sets"]),
    path("api/pool/<str:pool>/workflow", views_by_name["osmo-submit"]),
    path("api/pool/<str:pool>/workflow/<str:workflow_id>/restart", views_by_name["osmo-restart"]),
    path("api/pool_quota", views_by_name["osmo-pools"]),
    path("api/workflow", views_by_name["osmo-list"]),
    path("api/workflow/<str:workflow_id>", views_by_name["osmo-read"]),
    *(
        path(f"api/workflow/<str:workflow_id>/{word}", views_by_name[f"osmo-{word}"])
        for word in ("cancel", "logs", "events", "spec")
    ),
    path("v1/k8s/setting", views_by_name["general-settings"]),
    path("v1/k8s/setting/<str:setting_key>", views_by_name["general-setting"]),
    path("api-reference/", api_reference, name="api-reference"),
    re_path("^(api|v1)/(?P<rest>.*)$", csrf_exempt(answer_unknown_path)),
    re_path(CLOSED_PAGES, closed_page),
    path("accounts/", include("allauth.urls")),
    path("", include("accounts.urls")),
    path("", include("assets.urls")),
    path("", include("clusters.urls")),
    path("", include("notifications.urls")),
    path("", include("policies.urls")),
    path("", include("projects.urls")),
    path("styleguide/", styleguide, name="styleguide"),
    path("", include("workflows.urls")),
    path("", include("workloads.urls")),
]

handler403 = forbidden
handler500 = internal_error
