"""Fields that only MPI or only workspaces have, on a Kubernetes cluster."""

from tests.workloads.wizard.sections.field_rows import FieldRow, Posted, lasting

#: A kind and a framework of page 1, which all fields of a draft have to share.
PYTORCH: Posted = {"kind": "distributed", "framework": "PyTorch"}
MPI: Posted = {"kind": "distributed", "framework": "MPI"}
WORKSPACE: Posted = {"kind": "workspace"}

ROWS = (
    FieldRow(
        10,
        "Slots per worker",
        MPI | {"slotsPerWorker": "4"},
        {"slotsPerWorker": 4},
        {"kind": "MPIJob", "spec": {"slotsPerWorker": 4}},
    ),
    FieldRow(
        10,
        "Start of the launcher",
        MPI | {"mpiLauncherCreationPolicy": "WaitForWorkersReady"},
        {"mpiLauncherCreationPolicy": "WaitForWorkersReady"},
        {"launcherCreationPolicy": "WaitForWorkersReady"},
    ),
    FieldRow(
        9,
        "SSH auth mount path",
        MPI | {"sshAuthMountPath": "/keys"},
        {"sshAuthMountPath": "/keys"},
        {"sshAuthMountPath": "/keys"},
    ),
    FieldRow(
        11,
        "Runs as",
        PYTORCH | {"jobForm": "Operator"},
        {"jobForm": "Operator"},
        {"kind": "PyTorchJob"},
    ),
    # Trainyard does this itself; the cluster does not get it.
    FieldRow(
        13,
        "Idle limit",
        WORKSPACE | lasting("idleLimitSeconds", "2", "hours"),
        {"kind": "workspace", "idleLimitSeconds": 7200},
        {},
    ),
)
