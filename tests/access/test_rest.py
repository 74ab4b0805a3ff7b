"""Whom each call of the REST API lets in. A new call needs its row in the table."""

from tests.access.asking import Asker, calls, differences
from tests.access.place import PEOPLE, Place

#: Who calls: people by a token, the author's browser, and programs by the access key of somebody.
PARTS = (PEOPLE, ("cookie",), tuple(f"key of {name}" for name in PEOPLE[1:]))

#: By who calls: nobody, outsider, stranger, colleague, author, administrator; a browser, which is
#: nobody to the API; the keys of outsider to administrator. The signs' meaning says ``asking``.
TABLE = """
1+++++ 1 +++++ GET    /access-keys
1+++++ 1 +++++ GET    /asset/compute
1+++++ 1 +++++ GET    /asset/credentials
1+++++ 1 +++++ GET    /asset/credentials/access-key
1+++++ 1 +++++ GET    /asset/credentials/docker-registry
1+++++ 1 +++++ GET    /asset/credentials/generic-secret
1+++++ 1 +++++ GET    /asset/credentials/password
1+++++ 1 +++++ GET    /asset/datasource
1+++++ 1 +++++ GET    /asset/datasource/nfs
1+++++ 1 +++++ GET    /asset/datasource/pvc
1+++++ 1 +++++ GET    /asset/datasource/s3
1+++++ 1 +++++ GET    /asset/datasource/git
1+++++ 1 +++++ GET    /asset/datasource/host-path
1+++++ 1 +++++ GET    /asset/datasource/config-map
1+++++ 1 +++++ GET    /asset/datasource/secrets
1+++++ 1 +++++ GET    /asset/environment
1+++++ 1 +++++ GET    /asset/workload-template
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
144+++ 1 44+++ DELETE /asset/compute/{asset_id}
144+++ 1 44+++ DELETE /asset/credentials/access-key/{asset_id}
144+++ 1 44+++ DELETE /asset/credentials/docker-registry/{asset_id}
144+++ 1 44+++ DELETE /asset/credentials/generic-secret/{asset_id}
144+++ 1 44+++ DELETE /asset/credentials/password/{asset_id}
144+++ 1 44+++ DELETE /asset/datasource/nfs/{asset_id}
144+++ 1 44+++ DELETE /asset/datasource/pvc/{asset_id}
144+++ 1 44+++ DELETE /asset/datasource/s3/{asset_id}
144+++ 1 44+++ DELETE /asset/datasource/git/{asset_id}
144+++ 1 44+++ DELETE /asset/datasource/host-path/{asset_id}
144+++ 1 44+++ DELETE /asset/datasource/config-map/{asset_id}
144+++ 1 44+++ DELETE /asset/datasource/secrets/{asset_id}
144+++ 1 44+++ DELETE /asset/environment/{asset_id}
144+++ 1 44+++ DELETE /workloads/distributed/{workload_id}
144+++ 1 44+++ DELETE /workloads/trainings/{workload_id}
144+++ 1 44+++ DELETE /workloads/workspaces/{workload_id}
144+++ 1 44+++ GET    /asset/compute/{asset_id}
144+++ 1 44+++ GET    /asset/credentials/access-key/{asset_id}
144+++ 1 44+++ GET    /asset/credentials/docker-registry/{asset_id}
144+++ 1 44+++ GET    /asset/credentials/generic-secret/{asset_id}
144+++ 1 44+++ GET    /asset/credentials/password/{asset_id}
144+++ 1 44+++ GET    /asset/datasource/nfs/{asset_id}
144+++ 1 44+++ GET    /asset/datasource/pvc/{asset_id}
144+++ 1 44+++ GET    /asset/datasource/s3/{asset_id}
144+++ 1 44+++ GET    /asset/datasource/git/{asset_id}
144+++ 1 44+++ GET    /asset/datasource/host-path/{asset_id}
144+++ 1 44+++ GET    /asset/datasource/config-map/{asset_id}
144+++ 1 44+++ GET    /asset/datasource/secrets/{asset_id}
144+++ 1 44+++ GET    /asset/environment/{asset_id}
144+++ 1 44+++ GET    /asset/workload-template/{asset_id}
144+++ 1 44+++ GET    /clusters/{cluster_id}
144+++ 1 44+++ GET    /clusters/{cluster_id}/decisions
144+++ 1 44+++ GET    /clusters/{cluster_id}/nodes
144+++ 1 44+++ GET    /org-unit/projects/{project_id}
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
144+++ 1 44+++ PUT    /asset/compute/{asset_id}
144+++ 1 44+++ PUT    /asset/credentials/access-key/{asset_id}
144+++ 1 44+++ PUT    /asset/credentials/docker-registry/{asset_id}
144+++ 1 44+++ PUT    /asset/credentials/generic-secret/{asset_id}
144+++ 1 44+++ PUT    /asset/credentials/password/{asset_id}
144+++ 1 44+++ PUT    /asset/datasource/nfs/{asset_id}
144+++ 1 44+++ PUT    /asset/datasource/pvc/{asset_id}
144+++ 1 44+++ PUT    /asset/datasource/s3/{asset_id}
144+++ 1 44+++ PUT    /asset/datasource/git/{asset_id}
144+++ 1 44+++ PUT    /asset/datasource/host-path/{asset_id}
144+++ 1 44+++ PUT    /asset/datasource/config-map/{asset_id}
144+++ 1 44+++ PUT    /asset/datasource/secrets/{asset_id}
144+++ 1 44+++ PUT    /asset/environment/{asset_id}
14433+ 1 4433+ DELETE /node-pools/{pool_id}
14433+ 1 4433+ PUT    /node-pools/{pool_id}
144+++ 1 44+++ GET    /node-pools/{pool_id}
14433? 1 4433? DELETE /clusters/{cluster_id}
14433? 1 4433? POST   /node-pools
14433? 1 4433? PUT    /clusters/{cluster_id}
1444+4 1 444+4 DELETE /access-keys/{key_id}
1444+4 1 444+4 GET    /access-keys/{key_id}
1444+4 1 44434 POST   /access-keys/{key_id}/secret
144??? 1 44??? POST   /workloads/distributed/{workload_id}/resume
144??? 1 44??? POST   /workloads/trainings/{workload_id}/resume
144??? 1 44??? POST   /workloads/workspaces/{workload_id}/resume
1??+++ 1 ??+++ POST   /asset/compute
1??+++ 1 ??+++ POST   /asset/credentials/access-key
1??+++ 1 ??+++ POST   /asset/credentials/docker-registry
1??+++ 1 ??+++ POST   /asset/credentials/generic-secret
1??+++ 1 ??+++ POST   /asset/credentials/password
1??+++ 1 ??+++ POST   /asset/datasource/nfs
1??+++ 1 ??+++ POST   /asset/datasource/pvc
1??+++ 1 ??+++ POST   /asset/datasource/s3
1??+++ 1 ??+++ POST   /asset/datasource/git
1??+++ 1 ??+++ POST   /asset/datasource/host-path
1??+++ 1 ??+++ POST   /asset/datasource/config-map
1??+++ 1 ??+++ POST   /asset/datasource/secrets
1??+++ 1 ??+++ POST   /asset/environment
1??+++ 1 ??+++ POST   /workloads/distributed
1??+++ 1 ??+++ POST   /workloads/distributed/batch-create
1??+++ 1 ??+++ POST   /workloads/from-sbatch
1??+++ 1 ??+++ POST   /workloads/trainings
1??+++ 1 ??+++ POST   /workloads/trainings/batch-create
1??+++ 1 ??+++ POST   /workloads/workspaces
1??+++ 1 ??+++ POST   /workloads/workspaces/batch-create
"""


def test_calls_let_in_whom_the_table_says(place: Place) -> None:
    asker = Asker(place)
    observed = []
    for path, method in calls():
        signs = {who: asker.call(who, method, path) for part in PARTS for who in part}
        people, cookie, keys = ("".join(signs[who] for who in part) for part in PARTS)
        observed.append(f"{people} {cookie} {keys} {method:6} {path.removeprefix('/api/v1')}")
    assert not (wrong := differences(observed, TABLE)), f"not as the table has it:\n{wrong}"
    assert not asker.faults, "\n".join(asker.faults)
