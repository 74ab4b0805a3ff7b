"""Steps 9 and 10: what runs in each pod, and where."""

from typing import Any

from tests.workloads.wizard.browser import item
from tests.workloads.wizard.sections.field_rows import (
    ME,
    ME_THERE,
    POOLS,
    FieldRow,
    Json,
    Script,
    affinity,
    port,
    replica,
    tolerates,
    tool,
    variable,
)

HUB = "8f14e45f-ceea-467f-a8b2-5f8d3c1c9e10"  # id of a credential
OPEN_TO = {
    "authenticatedUsers": ("All authenticated users", ""),
    "authorizedGroups": ("Specific groups", "vision"),
    "authorizedUsers": ("Specific users", "maria"),
}


def board(at: int, **more: Any) -> Json:
    return {"connections": [{"name": f"board-{at}", "containerPort": port(at)} | more]}


def serves(at: int, **more: Any) -> Json:
    return {"kind": "Service", "spec": {"ports": [{"port": port(at)}]} | more}


TOOLS = (
    FieldRow(
        9,
        "External URL",
        tool(0, connection_type="ExternalUrl"),
        board(0, connectionType="ExternalUrl", externalUrl=None),
        serves(0),
    ),
    FieldRow(
        9,
        "Custom URL",
        tool(1, external_url="https://board.apps.example.com"),
        board(1, externalUrl="https://board.apps.example.com"),
        {"kind": "Ingress", "spec": {"rules": [{"host": "board.apps.example.com"}]}},
    ),
    *(
        FieldRow(
            9,
            f"Access: {title}",
            tool(at, access=value, **({"who-0": names} if names else {})),
            board(
                at,
                authorizationType=value,
                **{value: [names]} if names else {"authorizedUsers": []},
            ),
            serves(at),
        )
        for at, (value, (title, names)) in enumerate(OPEN_TO.items())
    ),
    FieldRow(
        9,
        "Node port",
        tool(3, connection_type="NodePort"),
        board(3, connectionType="NodePort", nodePort=None),
        serves(3, type="NodePort"),
        "there is no NodePort on one machine",
        "there is no NodePort on Slurm",
    ),
    FieldRow(
        9,
        "Custom port",
        tool(4, connection_type="NodePort", node_port="31777"),
        board(4, nodePort=31777),
        {"kind": "Service", "spec": {"ports": [{"port": port(4), "nodePort": 31777}]}},
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
        variable(0, name="LR", value="0.2"),
        {"environmentVariables": [{"name": "LR", "value": "0.2"}]},
        {"env": [{"name": "LR", "value": "0.2"}]},
        {"environment": {"LR": "0.2"}},
        Script("export LR=0.2"),
    ),
    FieldRow(
        9,
        "+ENVIRONMENT VARIABLE, custom value",
        variable(1, name="EPOCHS", value="3"),
        {"environmentVariables": [{"name": "EPOCHS", "value": "3"}]},
        {"env": [{"name": "EPOCHS", "value": "3"}]},
        {"environment": {"EPOCHS": "3"}},
        Script("export EPOCHS=3"),
    ),
    FieldRow(
        9,
        "+ENVIRONMENT VARIABLE, credential and key",
        variable(2, name="TOKEN", source="credential", value=f"{HUB}:hub", key="token"),
        {"environmentVariables": [{"name": "TOKEN", "credential": {"name": "hub"}}]},
        {"env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"key": "worker.2.TOKEN"}}}]},
        {"environment": {"TOKEN": "***"}},
        Script("export TOKEN=***"),
    ),
)


def tolerated(at: int, **its: Any) -> Json:
    return {"tolerations": [{"key": f"gpu-{at}"} | its]}


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
            tolerates(at, operator="Exists", effect=effect),
            tolerated(at, operator="Exists", effect=effect or "Any"),
            tolerated(at, operator="Exists", **({"effect": effect} if effect else {})),
        )
        for at, effect in enumerate(EFFECTS)
    ),
    FieldRow(
        10,
        "+TOLERATION Equals",
        tolerates(4, operator="", value="vision"),
        tolerated(4, operator="Equal", value="vision"),
        tolerated(4, operator="Equal", value="vision"),
    ),
    FieldRow(
        10,
        "Topology, required",
        affinity("Required"),
        {"podAffinity": {"type": "Required", "key": "rack"}},
        {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "rack"}]},
        slurm="Slurm places ranks itself",
    ),
    FieldRow(
        10,
        "Topology, preferred",
        affinity("Preferred"),
        {"podAffinity": {"type": "Preferred", "key": "rack"}},
        {"podAffinityTerm": {"topologyKey": "rack"}},
        slurm="Slurm places ranks itself",
    ),
)

ROWS = (*TOOLS, *RUNTIME, *WHERE)
