"""What each page and each call of REST takes: a permission, or less.

Its address and its method tell the permission. The tables have what they do not tell, so a new
address that names no resource fails the tests until it is there.
"""

import re

from accounts.permissions import RESOURCES

#: Less than a permission. ``OWNER`` is the person who created the object; ``NOBODY`` is for
#: addresses at which nobody finds anything.
ANYONE = "anyone"
SIGNED_IN = "signed in"
OWNER = "owner"
NOBODY = "nobody"
ASSETS = ("environments", "compute-resources", "data-sources", "credentials", "templates")

PAGES_FOR_ANYONE = {
    *("healthz", "health/notice/", "accounts/login/", "accounts/inactive/"),
    "notifications/bell/",
}
#: Pages that show what their reader may see, or only what is theirs.
PAGES_FOR_ALL = {
    *("accounts/logout/", "accounts/password/change/", "api-reference/", "styleguide/"),
    *("", "overview/needs/", "overview/dismiss/", "overview/gpus/"),
    *("palette/", "stream/", "device/", "access-keys/", "access-keys/new/", "notifications/"),
    *("notifications/read/", "notifications/settings/", "notifications/settings/new/"),
    *("workloads/rows/", "workloads/filter/", "workloads/matching/", "workloads/bulk/"),
    *("workloads/compare/", "workloads/compare/data/", "workloads/compare/selected/"),
    *("workloads/compare/samples.csv", "workloads/compare/samples.json"),
    *("workloads/views/", "workloads/new/", "workloads/new/batch-script/", "credentials/new/"),
    *(f"{resource}/" for resource in ("clusters", "projects", "workloads", "datasets", *ASSETS)),
    *(f"{resource}/export.csv" for resource in ("workloads", *ASSETS)),
}
PAGES_OF_AN_OWNER = re.compile(
    r"(access-keys|notifications|notifications/settings|workloads/drafts|workloads/views)/<.*"
)
#: Unknown addresses, a deleted workload, and an answer for the proxy of a tool.
EMPTY_PAGES = re.compile(r"\^.*|workloads/<uuid:pk>/purge/|tools/auth/.*")
ACTIONS_OF_WORDS = {
    "new": "create",
    "copy": "create",
    "edit": "update",
    "delete": "delete",
    **dict.fromkeys(("restore", "secret", "activity", "password", "test", "resend"), "update"),
    **dict.fromkeys(("connection", "rights.yaml", "again"), "update"),
}
#: What is done to a workload by POST; GET asks whether to do it.
ACTIONS_ON_WORKLOADS = {"stop": "update", "run": "update", "extend": "update", "delete": "delete"}
PAGES = {
    "access/<str:scope>/": "access-rules.read",
    "access/<str:scope>/new/": "access-rules.create",
    "clusters/tests/<uuid:pk>/": "clusters.update",
    "clusters/<uuid:pk>/node-pools/new/": "nodepools.create",
    "clusters/<uuid:pk>/node-pools/<int:pool>/": "nodepools.update",
    "clusters/<uuid:pk>/node-pools/<int:pool>/delete/": "nodepools.delete",
    "credentials/<uuid:pk>/copy/": "credentials.read",  # anyone may create one of their own
    # A version belongs to the data source that its dataset is.
    "datasets/<uuid:pk>/<int:number>/": "data-sources.read",
    "datasets/<uuid:pk>/<int:number>/file/": "data-sources.read",
    "datasets/<uuid:pk>/<int:number>/delete/": "data-sources.delete",
    "mail-server/delete/": "settings.update",
    "projects/<int:pk>/policy/": "policies.read",
    "tools/signin/<uuid:pk>/<slug:slug>/": "workloads.read",
    "workloads/<uuid:pk>/template/": "templates.create",
    # A workflow is seen and changed by those who see and change its workloads.
    "workflows/": "workloads.read",
    "workflows/new/": "workloads.create",
    "workflows/<uuid:pk>/": "workloads.read",
    **{f"workflows/<uuid:pk>/{tab}/": "workloads.read" for tab in ("logs", "report", "file")},
    "workflows/pools/": "settings.read",
    "workflows/pools/new/": "settings.update",
    "workflows/pools/<slug:name>/edit/": "settings.update",
    "workflows/pools/<slug:name>/delete/": "settings.update",
    "workflows/<uuid:pk>/cancel/": "workloads.update",
    "workflows/<uuid:pk>/restart/": "workloads.create",
    "workflows/<uuid:pk>/delete/": "workloads.delete",
}


def need_of_page(route: str, method: str) -> str:
    """Return what a page takes: a permission, or one of the words above."""
    if route in PAGES_FOR_ANYONE:
        return ANYONE
    if route in PAGES_FOR_ALL:
        return SIGNED_IN
    if PAGES_OF_AN_OWNER.fullmatch(route):
        return OWNER
    if EMPTY_PAGES.fullmatch(route):
        return NOBODY
    if route in PAGES:
        return PAGES[route]
    words = [part for part in route.strip("/").split("/") if not part.startswith("<")]
    if route in {"settings/", "mail-server/"}:
        return "settings.update" if method == "POST" else "settings.read"
    if words[0] == "workloads":
        action = ACTIONS_ON_WORKLOADS.get(words[-1], "read") if method == "POST" else "read"
    else:
        action = ACTIONS_OF_WORDS.get(words[-1], "read")
    return _permission(words[0], action, f"the page /{route}")


#: Our resource for the beginning of a path. The first that fits counts.
RESOURCES_OF_PATHS = {
    "asset/environment": "environments",
    "asset/compute": "compute-resources",
    "asset/datasource": "data-sources",
    "datasets": "data-sources",
    "asset/credentials": "credentials",
    "asset/workload-template": "templates",
    "workload-templates": "templates",
    "org-unit/departments": "departments",
    "org-unit/projects": "projects",
    "authorization/roles": "roles",
    "authorization/access-rules": "access-rules",
    "policy": "policies",
    "node-pools": "nodepools",
    "notification-channels": "settings",
    "security/settings": "settings",
    "nodes": "clusters",
}
ACTIONS_OF_METHODS = {
    "GET": "read",
    "POST": "create",
    "PUT": "update",
    "PATCH": "update",
    "DELETE": "delete",
}
CALLS_FOR_ANYONE = {"POST /device-sign-ins"}
CALLS_OF_AN_OWNER = re.compile(r"\w+ /(access-keys|subscriptions)/{.*")
#: Wrong passwords, a code that nobody approved, and names that nothing has.
EMPTY_CALLS = {
    *("POST /token", "POST /device-sign-ins/key"),
    "GET /workload-categories/{category_id}",
}
#: Lists that take their permission. Others show what their reader may see.
GUARDED_LISTS = ("users", "departments", "service-accounts", "access-rules", "audit", "settings")
CALLS_FOR_ALL = {
    *("POST /access-keys", "POST /me/password", "POST /subscriptions"),
    *("POST /authorization/permitted-scopes", "GET /authorization/roles/{role_id}"),
    *("GET /workload-types/{type_id}", "GET /notification-channels"),
    "GET /workflows",
    "GET /osmo/workflow",
    *("GET /osmo/pool_quota", "GET /pools"),
    "GET /workload-templates/name-availability",  # a scope that they do not see is a wrong value
}
CALLS = {
    "GET /administration/access-keys": "users.update",
    "DELETE /administration/access-keys/{key_id}": "users.update",
    "GET /node-pools/{pool_id}": "clusters.read",
    "POST /authorization/access-rules/batch": "access-rules.delete",
    "POST /cluster-tests": "clusters.update",
    "GET /cluster-tests/{test_id}": "clusters.update",
    "POST /policies/simulate": "policies.update",
    "POST /workloads/batch": "workloads.update",
    # A workflow is seen and changed by those who see and change its workloads.
    "POST /workflows": "workloads.create",
    "GET /workflows/{workflow_id}": "workloads.read",
    "GET /workflows/{workflow_id}/logs": "workloads.read",
    "POST /workflows/{workflow_id}/cancel": "workloads.update",
    "POST /workflows/{workflow_id}/restart": "workloads.create",
    "DELETE /workflows/{workflow_id}": "workloads.delete",
    "PUT /pools/{pool}": "settings.update",
    "DELETE /pools/{pool}": "settings.update",
    "POST /osmo/pool/{pool}/workflow": "workloads.create",
    "POST /osmo/pool/{pool}/workflow/{workflow_id}/restart": "workloads.create",
    "POST /osmo/workflow/{workflow_id}/cancel": "workloads.update",
    "GET /osmo/workflow/{workflow_id}": "workloads.read",
    **{
        f"GET /osmo/workflow/{{workflow_id}}/{word}": "workloads.read"
        for word in ("logs", "events", "spec")
    },
    "GET /security/settings": "settings.read",
    "GET /idps": "settings.read",
    "POST /notification-channels": "settings.update",
    "DELETE /notification-channels/{channel_name}": "settings.update",
    "POST /validate-notification-channel": "settings.update",
    "PATCH /notification-state": "settings.update",
    "GET /storage-classes": "clusters.read",
    "GET /storage-classes/details": "clusters.read",
    "GET /workloads/name-availability": "projects.read",
    **{
        f"GET /policy/{kind}": "policies.read"
        for kind in ("distributed", "trainings", "workspaces")
    },
}


def need_of_call(path: str, method: str) -> str:
    """Return what a call of REST takes: a permission, or one of the words above."""
    path = path.removeprefix("/api/v1")
    call = f"{method} {path}"
    if call in CALLS_FOR_ANYONE:
        return ANYONE
    if call in EMPTY_CALLS:
        return NOBODY
    if CALLS_OF_AN_OWNER.fullmatch(call):
        return OWNER
    if call in CALLS_FOR_ALL:
        return SIGNED_IN
    if call in CALLS:
        return CALLS[call]
    start = path.removeprefix("/")
    found = (it for key, it in RESOURCES_OF_PATHS.items() if f"{start}/".startswith(f"{key}/"))
    resource = next(found, start.partition("/")[0])
    if method == "GET" and "{" not in path and resource not in GUARDED_LISTS:
        return SIGNED_IN
    action = ACTIONS_OF_METHODS[method]
    if method == "POST" and "{" in path:
        action = "update"  # such as /workloads/{workload_id}/suspend
    return _permission(resource, action, f"the call {call}")


def _permission(resource: str, action: str, asked: str) -> str:
    if action not in RESOURCES.get(resource, ()):
        raise AssertionError(
            f"The address of {asked} does not tell the permission that it takes. "
            "Say it in tests/access/needs.py."
        )
    return f"{resource}.{action}"
