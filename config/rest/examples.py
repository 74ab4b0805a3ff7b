"""An example for each call that has a body, for the OpenAPI document. A test sends all of them."""

from typing import Any

CLUSTER = "7b1c3ff0-6a0e-4f0c-9b43-8a3f5be1c2d4"
PLACE = {"projectId": "1", "clusterId": CLUSTER}
COMPUTE = {"gpuDevicesRequest": 1, "cpuCoreRequest": 1, "cpuMemoryRequest": "2G"}
DISTRIBUTED: dict[str, Any] = {
    "name": "mnist",
    **PLACE,
    "spec": {
        "image": "kubeflow/pytorch-dist-mnist:latest",
        "distributedFramework": "PyTorch",
        "numWorkers": 2,
        "compute": COMPUTE,
        "environmentVariables": [{"name": "EPOCHS", "value": "10"}],
    },
}
TRAINING: dict[str, Any] = {
    "name": "evaluate",
    **PLACE,
    "spec": {
        "image": "pytorch/pytorch:latest",
        "command": "python evaluate.py",
        "compute": COMPUTE,
    },
}
WORKFLOW = """\
workflow:
  name: digits
  tasks:
  - name: train
    image: pytorch/pytorch:latest
    command: [python, train.py, --epochs, "{{ epochs }}"]
default-values:
  epochs: 1
"""
WORKSPACE: dict[str, Any] = {
    "name": "notebook",
    **PLACE,
    "spec": {
        "image": "jupyter/scipy-notebook:latest",
        "exposedUrls": [{"container": 8888, "toolType": "jupyter-notebook", "toolName": "Jupyter"}],
    },
}
POD = {
    "spec": {
        "containers": [
            {
                "name": "pytorch",
                "image": "kubeflow/pytorch-dist-mnist:latest",
                "resources": {"limits": {"nvidia.com/gpu": 1}},
            }
        ]
    }
}
MANIFEST: dict[str, Any] = {
    "apiVersion": "kubeflow.org/v1",
    "kind": "PyTorchJob",
    "metadata": {"name": "mnist-manifest"},
    "spec": {
        "pytorchReplicaSpecs": {
            "Master": {"replicas": 1, "restartPolicy": "OnFailure", "template": POD},
            "Worker": {"replicas": 2, "restartPolicy": "OnFailure", "template": POD},
        }
    },
}
SCRIPT = """#!/bin/bash
#SBATCH --job-name=mnist
#SBATCH --ntasks=2
#SBATCH --gpus-per-task=1
srun python train.py
"""
QUOTAS = [
    {
        "gpu": {"deserved": 8},
        "cpu": {"deserved": 64},
        "memory": {"deserved": 256, "units": "GB"},
    }
]
KEY = {"name": "ci", "scopes": ["projects.read", "clusters.read", "workloads.read"]}
RULE = {
    "subjectId": "ada",
    "subjectType": "user",
    "roleId": 1,
    "scopeId": "1",
    "scopeType": "tenant",
}
ROLE = {
    "name": "Observer",
    "description": "Sees workloads",
    "permissionSets": [{"id": "view-projects"}, {"id": "view-workloads"}],
}
SUBSCRIPTION: dict[str, Any] = {
    "events": [
        {"category": "Workload status change", "types": ["workload.completed", "workload.failed"]}
    ],
    "channels": [],
}
MAIL_SERVER: dict[str, Any] = {
    "smtpHost": "smtp.example.com",
    "smtpPort": 587,
    "smtpTlsEnabled": True,
    "from": "trainyard@example.com",
    "username": "trainyard",
    "password": "a-password",
}
EXAMPLES: dict[str, Any] = {
    "create_token": {"grantType": "password", "username": "ada", "password": "analytical-engine"},
    "create_access_key": KEY | {"expiresAt": "2030-01-31T00:00:00Z"},
    "create_device_sign_in": {"name": "trainyard on laptop"},
    "collect_device_key": {"deviceCode": "mhyB7kq3T1xW0oZ5vJ9cQ2sN8rL4pD6f"},
    "create_user": {"email": "grace@example.com"},
    "change_password": {"currentPassword": "analytical-engine", "newPassword": "difference-engine"},
    "create_access_rule": RULE,
    "create_many_access_rules": {
        "payload": {
            "roleId": 6,
            "subjects": [{"subjectId": "ada", "subjectType": "user"}],
            "scopes": [{"scopeId": "1", "scopeType": "project"}],
        }
    },
    "create_role": ROLE,
    "update_role": ROLE | {"name": "Operator", "permissionSets": [{"id": "manage-workloads"}]},
    "create_service_account": {"name": "ci"},
    "change_service_account": {"enabled": False},
    "change_many_access_rules": {"ids": ["12", "14"], "action": "validate_delete"},
    "read_permitted_scopes": {"resourceType": "project"},
    "update_setting": {"key": "tolerations", "value": True},
    "create_cluster": {"name": "gpu-cluster", "inCluster": True, "ingressClass": "nginx"},
    "update_cluster": {"name": "gpu-cluster", "ingressDomain": "apps.example.com"},
    "test_connection": {"inCluster": True},
    "create_pool": {"name": "a100", "clusterId": CLUSTER, "labelKey": "gpu", "labelValue": "a100"},
    "change_pool": {"labelValue": "a100-40gb"},
    "update_pool": {"labelKey": "gpu", "labelValue": "a100-80gb"},
    "create_department": {"name": "research", "clusterId": CLUSTER, "resources": QUOTAS},
    "update_department": {"name": "research", "overQuota": False},
    "replace_department_resources": QUOTAS,
    "change_department_resources": [{"gpu": {"deserved": 16}}],
    "create_project": {"name": "vision", "clusterId": CLUSTER, "members": ["ada"]},
    "update_project": {"description": "Models that see", "rank": "high"},
    "replace_project_resources": QUOTAS,
    "change_project_resources": [{"gpu": {"deserved": 4}}],
    "create_notification_channel": {
        "type": "slack",
        "config": {"apiToken": "https://hooks.slack.com/services/T000/B000/secret"},
    },
    "update_notification_channel": {"type": "email", "config": MAIL_SERVER},
    "patch_notification_channel": {"config": {"fromDisplayName": "Cluster"}},
    "validate_notification_channel": {
        "type": "email",
        "config": MAIL_SERVER | {"recipients": ["ada@example.com"]},
    },
    "update_notification_state": {"enabled": True, "email": {"enabled": False}},
    "create_webhook": {
        "name": "chat",
        "url": "https://hooks.example.com/trainyard",
        "events": ["workload.completed", "workload.failed"],
        "scope": "project",
        "projectId": "1",
    },
    "update_webhook": {"events": ["workload.failed"], "enabled": True},
    "create_subscription": SUBSCRIPTION,
    "update_subscription": SUBSCRIPTION | {"kinds": ["workspace"], "pendingMinutes": 60},
    "change_many_workloads": {"action": "suspend", "ids": ["5f0c6a52-90a1-4f0e-8d5c-2a0f9c1b7e33"]},
    "create_distributed": DISTRIBUTED,
    "create_many_distributed": {"workloads": [DISTRIBUTED, DISTRIBUTED | {"name": "mnist-2"}]},
    "create_from_batch_script": {**PLACE, "script": SCRIPT, "spec": {"image": "pytorch/pytorch"}},
    "create_from_manifest": {"metadata": {**PLACE, "category": "nightly"}, "manifest": MANIFEST},
    "update_manifest_workload": {"manifest": MANIFEST},
    "create_dataset": {"name": "mnist", "projectId": "1"},
    "create_workflow": {
        "projectId": "1",
        "file": WORKFLOW,
        "variables": {"epochs": 3},
        "priority": "LOW",
    },
    "cancel_workflow": {"message": "Wrong data"},
    "restart_workflow": {"variables": {"epochs": 5}},
    "save_workflow_pool": {"projectId": "1", "description": "Nodes with A100"},
    "osmo_submit_workflow": {"file": WORKFLOW, "set_variables": ["epochs=3"]},
    "create_training": TRAINING,
    "create_many_trainings": {"workloads": [TRAINING, TRAINING | {"name": "evaluate-2"}]},
    "create_workspace": WORKSPACE,
    "create_many_workspaces": {"workloads": [WORKSPACE, WORKSPACE | {"name": "notebook-2"}]},
}
#: The ``spec`` of each kind of asset, by the end of its operation ids.
ASSETS: dict[str, dict[str, Any]] = {
    "compute": COMPUTE,
    "environment": {
        "image": "jupyter/scipy-notebook:latest",
        "connections": [
            {
                "name": "Jupyter",
                "internalToolInfo": {
                    "toolType": "jupyter-notebook",
                    "connectionType": "ExternalUrl",
                    "containerPort": 8888,
                },
            }
        ],
    },
    "datasource_nfs": {"server": "nfs.example.com", "path": "/export", "mountPath": "/data"},
    "datasource_pvc": {"existingPvc": True, "claimName": "images", "path": "/data"},
    "datasource_s3": {"bucket": "images", "path": "/data"},
    "datasource_git": {"repository": "https://github.com/pytorch/examples", "path": "/code"},
    "datasource_host_path": {"path": "/mnt/images", "mountPath": "/data", "readOnly": True},
    "datasource_config_map": {"configMap": "settings", "mountPath": "/etc/settings"},
    "datasource_secrets": {"secret": "keys", "mountPath": "/etc/keys"},
    "datasource_dataset": {"path": "/data/mnist"},
    "credentials_access_key": {"accessKeyId": "AKIAEXAMPLE", "secretAccessKey": "example"},
    "credentials_docker_registry": {"user": "ada", "password": "example", "url": "ghcr.io"},
    "credentials_generic_secret": {"keyValuePairs": [{"key": "token", "value": "example"}]},
    "credentials_ngc_key": {"ngc_api_key": "example"},
    "credentials_password": {"user": "ada", "password": "example"},
}
META = {"name": "for-vision", "scope": "project", "projectId": 1}
EXAMPLES |= {
    f"create_asset_{name}": {"meta": META, "spec": spec} for name, spec in ASSETS.items()
} | {
    f"update_asset_{name}": {"meta": {"description": "For all teams"}, "spec": spec}
    for name, spec in ASSETS.items()
}
#: The ``policy`` of each kind of workload.
POLICIES: dict[str, Any] = {
    "distributed": {
        "defaults": {"worker": {"imagePullPolicy": "IfNotPresent"}},
        "rules": {
            "worker": {
                "numWorkers": {"max": 8},
                "compute": {"gpuDevicesRequest": {"max": 8, "why": "A node has 8 GPUs"}},
            }
        },
    },
    "training": {"rules": {"image": {"startsWith": "registry.example.com/"}}},
    "workspace": {"rules": {"storage": {"hostPath": {"instances": {"canAdd": False}}}}},
}
for _kind, _tree in POLICIES.items():
    EXAMPLES |= {
        f"overwrite_{_kind}_policy": {"meta": META, "policy": _tree},
        f"update_{_kind}_policy": {"meta": META, "policy": _tree, "reset": []},
    }
EXAMPLES["simulate_policy"] = {
    "workloadType": "distributed",
    "meta": META,
    "policy": POLICIES["distributed"],
}
TEMPLATE_META = {"name": "mnist-base", "scopeType": "project", "scopeId": "1"}
for _kind, _request in (
    ("distributed", DISTRIBUTED),
    ("training", TRAINING),
    ("workspace", WORKSPACE),
):
    EXAMPLES |= {
        f"create_{_kind}_template": {"meta": TEMPLATE_META, "spec": _request["spec"]},
        f"update_{_kind}_template": {"meta": {"name": "mnist"}, "spec": _request["spec"]},
        f"change_{_kind}_template": {"spec": {"image": "mnist:2"}, "fieldsToClear": ["spec.args"]},
    }
