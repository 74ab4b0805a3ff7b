"""Which callers each REST call lets in. A new call needs its row in the table."""

import pytest

from tests.access import rest_of_assets
from tests.access.asking import Asker, calls, differences
from tests.access.population import PEOPLE, Population

PARTS = (PEOPLE, ("cookie",), tuple(f"key of {name}" for name in PEOPLE[1:]))

#: By who calls: nobody, outsider, stranger, colleague, author, administrator; a browser, which is
#: nobody to the API; the keys of outsider to administrator. The signs' meaning says ``asking``.
TABLE = """
1+++++ 1 +++++ GET    /access-keys
1+++++ 1 +++++ GET    /clusters
1+++++ 1 +++++ GET    /node-pools
1+++++ 1 +++++ GET    /nodes
1+++++ 1 +++++ GET    /nodes/count
1+++++ 1 +++++ GET    /node-pools/count
1+++++ 1 +++++ GET    /org-unit/projects
1+++++ 1 +++++ GET    /org-unit/projects/count
1+++++ 1 +++++ GET    /workloads
1+++++ 1 +++++ GET    /workloads/count
1+++++ 1 +++++ GET    /workloads/watch
1+++++ 1 +++++ GET    /workloads/pods
1+++++ 1 +++++ GET    /workloads/pods/count
1+++++ 1 +++++ GET    /workloads/telemetry
1+++++ 1 +++++ GET    /nodes/telemetry
1+++++ 1 +++++ GET    /org-unit/projects/telemetry
13333+ 1 3333+ GET    /org-unit/departments/telemetry
144+++ 1 44+++ GET    /clusters/{cluster_id}/nodes/count
144+++ 1 44+++ GET    /clusters/{cluster_id}/metrics
144+++ 1 44+++ GET    /org-unit/projects/{project_id}/metrics
13333+ 1 3333+ GET    /org-unit/departments/{department_id}/metrics
144+++ 1 44+++ GET    /workloads/{workload_id}/history
144+++ 1 44+++ GET    /workloads/{workload_id}/metrics
144+++ 1 44+++ GET    /workloads/{workload_id}/pods/{pod_id}/metrics
14433+ 1 4433+ PATCH  /node-pools/{pool_id}
1+++++ 1 33333 POST   /access-keys
1+++++ 1 +++++ GET    /me
1+++++ 1 +++++ GET    /version
1+++++ 1 +++++ POST   /workloads/batch
13333+ 1 3333+ GET    /users
13333+ 1 3333+ GET    /users/count
13333+ 1 3333+ GET    /users/{user_id}
13333+ 1 3333+ POST   /users
13333+ 1 3333+ POST   /users/{user_id}/password
111111 1 11111 POST   /token
++++++ + +++++ POST   /device-sign-ins
444444 4 44444 POST   /device-sign-ins/key
13333+ 1 3333+ GET    /cluster-tests/{test_id}
13333+ 1 3333+ GET    /org-unit/departments
13333+ 1 3333+ GET    /org-unit/departments/count
13333+ 1 3333+ GET    /org-unit/departments/{department_id}
13333+ 1 3333+ PATCH  /org-unit/departments/{department_id}/resources
13333+ 1 3333+ POST   /cluster-tests
13333+ 1 3333+ POST   /org-unit/departments
13333+ 1 3333+ PUT    /org-unit/departments/{department_id}
13333+ 1 3333+ PUT    /org-unit/departments/{department_id}/resources
13333+ 1 3333+ POST   /org-unit/projects
14433? 1 4433? DELETE /org-unit/projects/{project_id}
14433+ 1 4433+ PUT    /org-unit/projects/{project_id}
14433+ 1 4433+ PUT    /org-unit/projects/{project_id}/resources
14433+ 1 4433+ PATCH  /org-unit/projects/{project_id}/resources
13333? 1 3333? DELETE /org-unit/departments/{department_id}
13333? 1 3333? POST   /clusters
144+++ 1 44+++ DELETE /workloads/distributed/{workload_id}
144+++ 1 44+++ DELETE /workloads/trainings/{workload_id}
144+++ 1 44+++ DELETE /workloads/workspaces/{workload_id}
144+++ 1 44+++ GET    /clusters/{cluster_id}
144+++ 1 44+++ GET    /clusters/{cluster_id}/decisions
144+++ 1 44+++ GET    /clusters/{cluster_id}/nodes
144+++ 1 44+++ GET    /org-unit/projects/{project_id}
144+++ 1 44+++ GET    /org-unit/projects/{project_id}/queues
144+++ 1 44+++ GET    /workloads/distributed/{workload_id}
144+++ 1 44+++ GET    /workloads/name-availability
144+++ 1 44+++ GET    /workloads/trainings/{workload_id}
144+++ 1 44+++ GET    /workloads/workspaces/{workload_id}
144+++ 1 44+++ GET    /workloads/{workload_id}
144+++ 1 44+++ GET    /workloads/{workload_id}/events
144+++ 1 44+++ GET    /workloads/{workload_id}/logs
144+++ 1 44+++ GET    /workloads/{workload_id}/pods
144+++ 1 44+++ POST   /workloads/distributed/{workload_id}/suspend
144+++ 1 44+++ POST   /workloads/trainings/{workload_id}/suspend
144+++ 1 44+++ POST   /workloads/workspaces/{workload_id}/suspend
14433+ 1 4433+ DELETE /node-pools/{pool_id}
14433+ 1 4433+ PUT    /node-pools/{pool_id}
144+++ 1 44+++ GET    /node-pools/{pool_id}
14433? 1 4433? DELETE /clusters/{cluster_id}
14433? 1 4433? POST   /node-pools
14433? 1 4433? PUT    /clusters/{cluster_id}
1444+4 1 444+4 DELETE /access-keys/{key_id}
1444+4 1 444+4 GET    /access-keys/{key_id}
1444+4 1 44434 POST   /access-keys/{key_id}/secret
144??? 1 44??? POST   /workloads/{workload_id}/extend
144??? 1 44??? POST   /workloads/distributed/{workload_id}/resume
144??? 1 44??? POST   /workloads/trainings/{workload_id}/resume
144??? 1 44??? POST   /workloads/workspaces/{workload_id}/resume
1+++++ 1 +++++ GET    /webhooks
1+++++ 1 +++++ GET    /notification-types
1+++++ 1 +++++ GET    /notification-state
1+++++ 1 +++++ GET    /notification-channels
13333+ 1 3333+ GET    /notification-channels/{channel_name}
13333? 1 3333? POST   /notification-channels
13333+ 1 3333+ PUT    /notification-channels/{channel_name}
13333+ 1 3333+ PATCH  /notification-channels/{channel_name}
13333+ 1 3333+ DELETE /notification-channels/{channel_name}
13333+ 1 3333+ POST   /validate-notification-channel
13333+ 1 3333+ PATCH  /notification-state
1+++++ 1 +++++ GET    /subscriptions
1+++++ 1 +++++ POST   /subscriptions
1444+4 1 444+4 PUT    /subscriptions/{subscription_id}
1444+4 1 444+4 DELETE /subscriptions/{subscription_id}
144+++ 1 44+++ DELETE /webhooks/{webhook_id}
144+++ 1 44+++ GET    /webhooks/{webhook_id}
144+++ 1 44+++ GET    /webhooks/{webhook_id}/deliveries
144+++ 1 44+++ GET    /webhooks/{webhook_id}/deliveries/{delivery_id}
144+++ 1 44+++ POST   /webhooks/{webhook_id}/deliveries/{delivery_id}/resend
144+++ 1 44+++ POST   /webhooks/{webhook_id}/secret
144+++ 1 44+++ POST   /webhooks/{webhook_id}/test
144+++ 1 44+++ PUT    /webhooks/{webhook_id}
1??+++ 1 ??+++ POST   /webhooks
1??+++ 1 ??+++ POST   /workloads/distributed
1??+++ 1 ??+++ POST   /workloads/distributed/batch-create
1??+++ 1 ??+++ POST   /workloads/from-sbatch
1??+++ 1 ??+++ POST   /workloads/manifests
144+++ 1 44+++ GET    /workloads/manifests/{workload_id}
144+++ 1 44+++ PUT    /workloads/manifests/{workload_id}
144+++ 1 44+++ DELETE /workloads/manifests/{workload_id}
144+++ 1 44+++ GET    /nodes/{node_id}/metrics
144+++ 1 44+++ GET    /clusters/{cluster_id}/nodepools/{nodepool_name}/metrics
1??+++ 1 ??+++ POST   /workloads/trainings
1??+++ 1 ??+++ POST   /workloads/trainings/batch-create
1??+++ 1 ??+++ POST   /workloads/workspaces
1??+++ 1 ??+++ POST   /workloads/workspaces/batch-create
1+++++ 1 +++++ GET    /workload-templates
1+++++ 1 +++++ GET    /workload-templates/count
1+++++ 1 +++++ GET    /workload-templates/distributed
1+++++ 1 +++++ GET    /workload-templates/trainings
1+++++ 1 +++++ GET    /workload-templates/workspaces
144+++ 1 44+++ DELETE /workload-templates/distributed/{template_id}
144+++ 1 44+++ DELETE /workload-templates/trainings/{template_id}
144+++ 1 44+++ DELETE /workload-templates/workspaces/{template_id}
144+++ 1 44+++ GET    /workload-templates/distributed/{template_id}
144+++ 1 44+++ GET    /workload-templates/trainings/{template_id}
144+++ 1 44+++ GET    /workload-templates/workspaces/{template_id}
144+++ 1 44+++ GET    /workload-templates/{template_id}
144+++ 1 44+++ PATCH  /workload-templates/distributed/{template_id}
144+++ 1 44+++ PATCH  /workload-templates/trainings/{template_id}
144+++ 1 44+++ PATCH  /workload-templates/workspaces/{template_id}
144+++ 1 44+++ PUT    /workload-templates/distributed/{template_id}
144+++ 1 44+++ PUT    /workload-templates/trainings/{template_id}
144+++ 1 44+++ PUT    /workload-templates/workspaces/{template_id}
1??+++ 1 ??+++ GET    /workload-templates/name-availability
1??+++ 1 ??+++ POST   /workload-templates/distributed
1??+++ 1 ??+++ POST   /workload-templates/trainings
1??+++ 1 ??+++ POST   /workload-templates/workspaces
1+++++ 1 +++++ GET    /authorization/me/access-rules
1+++++ 1 +++++ GET    /authorization/me/access-rules/count
13333+ 1 3333+ GET    /authorization/access-rules
13333+ 1 3333+ GET    /authorization/access-rules/count
13333+ 1 3333+ GET    /authorization/access-rules/{rule_id}
13333? 1 3333? POST   /authorization/access-rules
13333+ 1 3333+ POST   /authorization/access-rules/batch
13333+ 1 3333+ POST   /authorization/access-rules/batch-create
13333+ 1 3333+ DELETE /authorization/access-rules/{rule_id}
1+++++ 1 +++++ GET    /authorization/permissions
1+++++ 1 +++++ GET    /authorization/permission-sets
13333+ 1 3333+ DELETE /authorization/roles/{role_id}
13333+ 1 3333+ DELETE /service-accounts/{account_id}
13333+ 1 3333+ GET    /service-accounts
13333+ 1 3333+ GET    /service-accounts/{account_id}
13333+ 1 3333+ PATCH  /service-accounts/{account_id}
13333+ 1 3333+ POST   /authorization/roles
13333+ 1 3333+ POST   /service-accounts
13333+ 1 3333+ POST   /service-accounts/{account_id}/secret
13333+ 1 3333+ PUT    /authorization/roles/{role_id}
1+++++ 1 +++++ GET    /authorization/roles
1+++++ 1 +++++ GET    /authorization/roles/{role_id}
1+++++ 1 +++++ GET    /org-unit/priorities
1+++++ 1 +++++ GET    /workload-priorities
1+++++ 1 +++++ GET    /workload-types
1+++++ 1 +++++ GET    /workload-types/{type_id}
1+++++ 1 +++++ GET    /workload-categories
144444 1 44444 GET    /workload-categories/{category_id}
1+++++ 1 +++++ POST   /authorization/permitted-scopes
1????? 1 33333 POST   /me/password
13333+ 1 3333+ DELETE /administration/access-keys/{key_id}
13333+ 1 3333+ GET    /administration/access-keys
13333+ 1 3333+ GET    /audit/log
13333+ 1 3333+ GET    /audit/log/file
13333+ 1 3333+ POST   /users/{user_id}/logout
13333+ 1 3333+ GET    /security/settings
13333+ 1 3333+ GET    /security/settings/{security_key}
13333+ 1 3333+ GET    /idps
1+++++ 1 +++++ GET    /logo
13333+ 1 3333+ GET    /settings
13333+ 1 3333+ GET    /settings/{setting_key}
13333+ 1 3333+ PUT    /settings
1+++++ 1 +++++ GET    /policy
144+++ 1 44+++ GET    /policy/distributed
144+++ 1 44+++ GET    /policy/trainings
144+++ 1 44+++ GET    /policy/workspaces
1??33+ 1 ??33+ POST   /policies/simulate
1??33+ 1 ??33+ PUT    /policy/distributed
1??33+ 1 ??33+ PUT    /policy/trainings
1??33+ 1 ??33+ PUT    /policy/workspaces
1??33+ 1 ??33+ PATCH  /policy/distributed
1??33+ 1 ??33+ PATCH  /policy/trainings
1??33+ 1 ??33+ PATCH  /policy/workspaces
14433+ 1 4433+ DELETE /policy/distributed
14433+ 1 4433+ DELETE /policy/trainings
14433+ 1 4433+ DELETE /policy/workspaces
144+++ 1 44+++ GET    /storage-classes
144+++ 1 44+++ GET    /storage-classes/details
"""


def test_each_call_answers_a_stranger_as_the_table_says(population: Population) -> None:
    """One column of the table: all of them take half a minute."""
    asker = Asker(population)
    column = PEOPLE.index("stranger")
    rows = (TABLE + rest_of_assets.TABLE).strip().splitlines()
    expected = {tuple(row.split()[-2:]): row[column] for row in rows if row}
    observed = {
        (method, path.removeprefix("/api/v1")): asker.call("stranger", method, path)
        for path, method in calls()
    }
    assert observed == expected
    assert not asker.faults, "\n".join(asker.faults)


@pytest.mark.extended
def test_calls_let_in_whom_the_table_says(population: Population) -> None:
    asker = Asker(population)
    observed = list[str]()
    for path, method in calls():
        signs = {who: asker.call(who, method, path) for part in PARTS for who in part}
        people, cookie, keys = ("".join(signs[who] for who in part) for part in PARTS)
        observed.append(f"{people} {cookie} {keys} {method:6} {path.removeprefix('/api/v1')}")
    assert not (wrong := differences(observed, TABLE + rest_of_assets.TABLE)), (
        f"not as in the table:\n{wrong}"
    )
    assert not asker.faults, "\n".join(asker.faults)
