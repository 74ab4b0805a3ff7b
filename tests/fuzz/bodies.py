"""Valid bodies for the calls of the REST API."""

from typing import Any

from config.rest.examples import MANIFEST
from projects.models import Project
from workloads.models import Workload

SPEC: dict[str, Any] = {
    "image": "kubeflow/pytorch-dist-mnist:latest",
    "numWorkers": 1,
    "distributedFramework": "PyTorch",
    "command": "python train.py",
    "environmentVariables": [{"name": "A", "value": "1"}],
    "compute": {"cpuCoreRequest": 0.1, "cpuMemoryRequest": "100M"},
    "labels": [{"name": "a", "value": "b"}],
    "annotations": [{"name": "a", "value": "b"}],
    "relatedUrls": [{"name": "a", "url": "https://a/b", "type": "x"}],
    "connections": [{"name": "a", "containerPort": 80}],
    "category": "train",
    "nodePools": ["default"],
    "storage": {"pvc": [{"path": "/data", "claimInfo": {"size": "1G"}}]},
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
    "probes": {"readiness": {"handler": {"httpGet": {"port": 80}}}},
}

WORKFLOW = """\
workflow:
  name: digits
  tasks:
  - {name: train, image: alpine, command: [sh]}
"""

TOKEN = {
    "grantType": "password",
    "username": "a",
    "password": "b",
    "clientID": "c",
    "clientSecret": "d",
}

RULE = {
    "subjectId": "ada",
    "subjectType": "user",
    "roleId": 6,
    "scopeId": "1",
    "scopeType": "project",
}

ROLE = {"name": "Observer", "permissionSets": [{"id": "view-workloads"}]}

MAIL_CHANNEL: dict[str, Any] = {
    "type": "email",
    "config": {"smtpHost": "smtp.example.com", "from": "trainyard@example.com"},
}
MAIL_TEST = {
    "type": "email",
    "config": MAIL_CHANNEL["config"] | {"recipients": ["ada@example.com"]},
}
PEOPLE: dict[str, Any] = {
    "/access-keys": {"name": "ci"},
    "/device-sign-ins": {"name": "trainyard on laptop"},
    "/device-sign-ins/key": {"deviceCode": "a"},
    "/users": {"email": "ada@example.com"},
    "/settings": {"key": "topology", "value": True},
    "/notification-channels": MAIL_CHANNEL,
    "/notification-channels/{channel_name}": MAIL_CHANNEL,
    "/validate-notification-channel": MAIL_TEST,
    "/notification-state": {"enabled": True, "email": {"enabled": True}},
    "/me/password": {"currentPassword": "a", "newPassword": "b"},
    "/authorization/permitted-scopes": {"resourceType": "project"},
    "/authorization/access-rules": RULE,
    "/authorization/roles": ROLE,
    "/authorization/roles/{role_id}": ROLE,
    "/service-accounts": {"name": "another"},
    "/service-accounts/{account_id}": {"enabled": False},
    "/authorization/access-rules/batch": {"ids": ["2"], "action": "delete"},
    "/authorization/access-rules/batch-create": {
        "payload": {
            "roleId": 6,
            "subjects": [{"subjectId": "ada", "subjectType": "user"}],
            "scopes": [{"scopeId": "1", "scopeType": "project"}],
        }
    },
}


def bodies(project: Project, workload: Workload) -> dict[str, Any]:
    """Return the body of each call that has one, by the end of its path."""
    one = {
        "name": "fuzzed",
        "projectId": str(project.pk),
        "clusterId": str(project.cluster_id),
        "spec": SPEC,
        "masterSpec": {"image": "a"},
    }
    place = {key: one[key] for key in ("name", "projectId", "clusterId")}
    gang = {"numWorkers", "distributedFramework"}
    alone = {key: value for key, value in one.items() if key != "masterSpec"}
    alone["spec"] = {key: value for key, value in SPEC.items() if key not in gang}
    pool = {"name": "fast", "clusterId": str(project.cluster_id), "labelKey": "gpu"}
    quotas = [{"gpu": {"deserved": 1}, "memory": {"deserved": 1, "units": "GB"}}]
    cluster = {"name": "other", "kubeconfig": "a: b", "namespacePrefix": "x-", "kind": ""}
    return {
        **(assets(project) | templates(project) | webhooks(project)),
        **policies(project),
        "/token": TOKEN,
        **PEOPLE,
        "/workloads/distributed": one,
        "/workloads/from-sbatch": {**place, "script": "#!/bin/sh\n#SBATCH -n 2\nsrun true\n"},
        "/workloads/manifests": {"metadata": place, "manifest": MANIFEST},
        "/manifests/{workload_id}": {"manifest": MANIFEST},
        "/workloads/trainings": alone,
        "/batch-create": {"workloads": [alone, alone]},
        "/distributed/batch-create": {"workloads": [one, one]},
        "/workloads/batch": {"ids": [str(workload.pk)], "action": "suspend"},
        "/workflows": {"projectId": str(project.pk), "file": WORKFLOW},
        "/datasets": {"name": "digits", "projectId": str(project.pk)},
        "/workflow": {"file": WORKFLOW},
        "/pools/{pool}": {"projectId": str(project.pk), "description": "d"},
        "/cancel": {"message": "no"},
        "/node-pools": pool,
        "/{pool_id}": {"labelKey": "gpu", "labelValue": "x"},
        "/departments": {"name": "d", "clusterId": pool["clusterId"], "resources": quotas},
        "/{department_id}": {"name": "d", "overQuota": True, "resources": quotas},
        "/projects": {"name": "p", "clusterId": pool["clusterId"], "resources": quotas},
        "/{project_id}": {"name": "p", "rank": "high", "members": [], "resources": quotas},
        "/resources": quotas,
        "/clusters": cluster,
        "/{cluster_id}": cluster,
        "/cluster-tests": cluster | {"clusterId": pool["clusterId"]},
    }


def policies(project: Project) -> dict[str, Any]:
    meta = {"name": "limits", "scope": "project", "projectId": project.pk}
    rules: dict[str, Any] = {"backoffLimit": {"max": 9}, "image": {"required": True}}
    one_pod = {"meta": meta, "policy": {"rules": rules}}
    return {
        "/policy/distributed": {"meta": meta, "policy": {"rules": {"worker": rules}}},
        "/policy/trainings": one_pod,
        "/policies/simulate": one_pod | {"workloadType": "training"},
        "/policy/workspaces": one_pod,
    }


def webhooks(project: Project) -> dict[str, Any]:
    webhook = {"name": "chat", "url": "https://example.com/hook", "events": ["*"]}
    place = {"scope": "project", "projectId": str(project.pk)}
    subscription = {"events": [{"category": "Workload", "types": ["workload.pending-long"]}]}
    subscriptions = {"/subscriptions": subscription, "/{subscription_id}": subscription}
    return {"/webhooks": webhook | place, "/{webhook_id}": webhook} | subscriptions


#: A ``spec`` of each type of asset, by the end of the path.
ASSETS: dict[str, dict[str, Any]] = {
    "compute": {"cpuCoreRequest": 1, "extendedResources": [{"resource": "a", "quantity": "1"}]},
    "environment": {
        "image": "a:1",
        "environmentVariables": [{"name": "A", "value": "1"}],
        "connections": [
            {
                "name": "a",
                "internalToolInfo": {
                    "toolType": "jupyter-notebook",
                    "containerPort": 8888,
                    "connectionType": "NodePort",
                    "nodePortInfo": {"isCustomPort": True, "nodePort": 30_001},
                },
            }
        ],
        "uidGidSource": "custom",
        "runAsUid": 1,
    },
    "datasource/nfs": {"server": "nfs", "path": "/export", "mountPath": "/data"},
    "datasource/pvc": {"existingPvc": True, "claimName": "data", "path": "/data"},
    "datasource/s3": {"bucket": "data", "path": "/data", "accessKeyAssetId": None},
    "datasource/git": {"repository": "https://example.com/a.git", "path": "/code"},
    "datasource/host-path": {"path": "/mnt/data", "mountPath": "/data"},
    "datasource/config-map": {"configMap": "conf", "mountPath": "/conf"},
    "datasource/secrets": {"secret": "keys", "mountPath": "/keys"},
    "datasource/dataset": {"path": "/data"},
    "credentials/access-key": {"accessKeyId": "AKIA1", "secretAccessKey": "zanzibar"},
    "credentials/docker-registry": {"user": "a", "password": "zanzibar", "url": "example.com"},
    "credentials/generic-secret": {"keyValuePairs": [{"key": "token", "value": "zanzibar"}]},
    "credentials/ngc-api-key": {"ngc_api_key": "zanzibar"},
    "credentials/password": {"user": "ada", "password": "zanzibar"},
}


def assets(project: Project) -> dict[str, Any]:
    meta = {"name": "an-asset", "description": "", "scope": "project", "projectId": project.pk}
    ours = {f"/{path}": {"meta": meta, "spec": spec} for path, spec in ASSETS.items()}
    changes = {
        f"/{path}/{{asset_id}}": {"meta": {"description": "new"}, "spec": spec}
        for path, spec in ASSETS.items()
    }
    return ours | changes


def templates(project: Project) -> dict[str, Any]:
    gang = {"numWorkers", "distributedFramework"}
    alone = {key: value for key, value in SPEC.items() if key not in gang}
    meta = {"name": "a-template", "scopeType": "project", "scopeId": str(project.pk)}
    return {
        "/workload-templates/distributed": {"meta": meta, "spec": SPEC},
        "/workload-templates/trainings": {"meta": meta, "spec": alone},
        "/workload-templates/workspaces": {"meta": meta, "spec": alone},
        "/{template_id}": {"meta": {"description": "new"}, "spec": alone},
    }
