"""Steps 9 and 10: what runs in each pod, and where."""

from tests.workloads.wizard.browser import item
from tests.workloads.wizard.sections.field_rows import (
    ME,
    ME_THERE,
    POOLS,
    FieldRow,
    Script,
    near,
    replica,
    tolerates,
    tool,
    variable,
)

HUB = "8f14e45f-ceea-467f-a8b2-5f8d3c1c9e10"  # the id of a credential
OPEN_TO = {
    "authenticatedUsers": ("All signed-in users", ""),
    "authorizedGroups": ("Specific groups", "vision"),
    "authorizedUsers": ("Specific users", "maria"),
}
BOARD = {"name": "board", "containerPort": 6006}

TOOLS = (
    FieldRow(
        9,
        "External URL",
        tool(),
        {"connections": [BOARD | {"connectionType": "ExternalUrl", "externalUrl": None}]},
        {"kind": "Service", "spec": {"ports": [{"port": 6006}]}},
    ),
    FieldRow(
        9,
        "Custom URL",
        tool(external_url="https://board.apps.example.com"),
        {"connections": [BOARD | {"externalUrl": "https://board.apps.example.com"}]},
        {"kind": "Ingress", "spec": {"rules": [{"host": "board.apps.example.com"}]}},
    ),
    *(
        FieldRow(
            9,
            f"Access: {title}",
            tool(access=value, who=names),
            {
                "connections": [
                    BOARD
                    | {"authorizationType": value}
                    | ({value: [names]} if names else {"authorizedUsers": []})
                ]
            },
            {"kind": "Service", "spec": {"ports": [{"port": 6006}]}},
        )
        for value, (title, names) in OPEN_TO.items()
    ),
    FieldRow(
        9,
        "Node port",
        tool(connection_type="NodePort"),
        {"connections": [BOARD | {"connectionType": "NodePort", "nodePort": None}]},
        {"kind": "Service", "spec": {"type": "NodePort"}},
        "there is no NodePort on one machine",
        "there is no NodePort on Slurm",
    ),
    FieldRow(
        9,
        "Custom port",
        tool(connection_type="NodePort", node_port="31777"),
        {"connections": [BOARD | {"nodePort": 31777}]},
        {"kind": "Service", "spec": {"ports": [{"nodePort": 31777}]}},
        "there is no NodePort on one machine",
        "there is no NodePort on Slurm",
    ),
)

RUNTIME = (
    FieldRow(
        9,
        "User ID (UID)",
        replica(security__runAsUid="1234"),
        {"security": {"runAsUid": 1234}},
        {"securityContext": {"runAsUser": 1234}},
        ME,
        ME_THERE,
    ),
    FieldRow(
        9,
        "Group ID (GID)",
        replica(security__runAsGid="4321"),
        {"security": {"runAsGid": 4321}},
        {"securityContext": {"runAsGroup": 4321}},
        ME,
        ME_THERE,
    ),
    FieldRow(
        9,
        "Supplementary groups",
        replica(security__supplementalGroups="10, 20"),
        {"security": {"supplementalGroups": "10, 20"}},
        {"securityContext": {"supplementalGroups": [10, 20]}},
        ME,
        ME_THERE,
    ),
    FieldRow(
        9,
        "+COMMAND & ARGUMENTS",
        replica(command="python train.py", args="--epochs=3 --lr=0.1"),
        {"command": "python train.py", "args": "--epochs=3 --lr=0.1"},
        {"command": ["python", "train.py"], "args": ["--epochs=3", "--lr=0.1"]},
        {"command": "python train.py --epochs=3 --lr=0.1"},
        Script("python train.py --epochs=3 --lr=0.1; }"),
    ),
    FieldRow(
        9,
        "Arguments of the image's own command",
        replica(command="", args="--epochs=3"),
        {"args": "--epochs=3"},
        {"args": ["--epochs=3"]},
        slurm=Script("python own.py --epochs=3; }"),
    ),
    FieldRow(
        9,
        "Modify an existing variable",
        variable(name="LR", value="0.2"),
        {"environmentVariables": [{"name": "LR", "value": "0.2"}]},
        {"env": [{"name": "LR", "value": "0.2"}]},
        {"environment": {"LR": "0.2"}},
        Script("export LR=0.2"),
    ),
    FieldRow(
        9,
        "+ENVIRONMENT VARIABLE, custom value",
        variable(name="EPOCHS", value="3"),
        {"environmentVariables": [{"name": "EPOCHS", "value": "3"}]},
        {"env": [{"name": "EPOCHS", "value": "3"}]},
        {"environment": {"EPOCHS": "3"}},
        Script("export EPOCHS=3"),
    ),
    FieldRow(
        9,
        "+ENVIRONMENT VARIABLE, credential and key",
        variable(name="TOKEN", source="credential", value=f"{HUB}:hub", key="token"),
        {"environmentVariables": [{"name": "TOKEN", "credential": {"name": "hub"}}]},
        {"env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"key": "worker.1.TOKEN"}}}]},
        {"environment": {"TOKEN": "***"}},
        Script("export TOKEN=***"),
    ),
)

EFFECTS = ("NoExecute", "NoSchedule", "PreferNoSchedule", "")
WHERE = (
    FieldRow(
        10,
        "Order of priority of the node pools",
        item(POOLS, 0, item="a100") | item(POOLS, 1, item="h100"),
        {"nodePools": ["a100", "h100"]},
        {"preference": {"matchExpressions": [{"key": "gpu", "values": ["a100"]}]}, "weight": 100},
        "this machine is the pool 'default'",
        Script("--partition=a100,h100"),
    ),
    FieldRow(
        10,
        "Node affinity",
        replica(nodeType="dgx"),
        {"nodeType": "dgx"},
        {"matchExpressions": [{"key": "run.ai/type", "operator": "In", "values": ["dgx"]}]},
        "this machine has no node type",
        Script("--constraint=dgx"),
    ),
    *(
        FieldRow(
            10,
            f"+TOLERATION Exists, {effect or 'any'}",
            tolerates(operator="Exists", effect=effect),
            {"tolerations": [{"key": "gpu", "operator": "Exists", "effect": effect or "Any"}]},
            {
                "tolerations": [
                    {"key": "gpu", "operator": "Exists"} | ({"effect": effect} if effect else {})
                ]
            },
        )
        for effect in EFFECTS
    ),
    FieldRow(
        10,
        "+TOLERATION Equals",
        tolerates(value="vision"),
        {"tolerations": [{"key": "gpu", "operator": "Equal", "value": "vision"}]},
        {"tolerations": [{"key": "gpu", "operator": "Equal", "value": "vision"}]},
    ),
    FieldRow(
        10,
        "Topology, required",
        near("Required"),
        {"podAffinity": {"type": "Required", "key": "rack"}},
        {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "rack"}]},
        slurm="Slurm places ranks itself",
    ),
    FieldRow(
        10,
        "Topology, preferred",
        near("Preferred"),
        {"podAffinity": {"type": "Preferred", "key": "rack"}},
        {"podAffinityTerm": {"topologyKey": "rack"}},
        slurm="Slurm places ranks itself",
    ),
)

ROWS = (*TOOLS, *RUNTIME, *WHERE)
