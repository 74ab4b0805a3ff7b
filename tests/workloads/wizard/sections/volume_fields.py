"""Steps 10, 11 and 13: the number of workers, their volumes, and settings of the whole workload."""

from tests.workloads.wizard.sections.field_rows import (
    FieldRow,
    Script,
    claim,
    label,
    lasting,
)

GRACE = "terminationGracePeriodSeconds"
DELETION = "autoDeletionTimeAfterCompletionSeconds"
MODES = {
    "Read-write by one node": "readWriteOnce",
    "Read-only by many nodes": "readOnlyMany",
    "Read-write by many nodes": "readWriteMany",
}
IN_CLUSTER = {mode: mode[0].upper() + mode[1:] for mode in MODES.values()}
UNITS = ("M", "G", "T", "Mi", "Gi", "Ti")

SIZE = (
    FieldRow(
        10,
        "Number of workers",
        {"numWorkers": "3"},
        {"numWorkers": 3},
        {"Worker": {"replicas": 3}},
        {"environment": {"PET_NNODES": "4"}},
        Script("--ntasks=4"),
    ),
)
VOLUMES = (
    FieldRow(
        11,
        "Storage class None",
        claim(0, claimInfo__storageClass="runai-none"),
        {"pvc": [{"claimInfo": {"storageClass": "runai-none"}}]},
        {"kind": "PersistentVolumeClaim", "spec": {"storageClassName": ""}},
    ),
    FieldRow(
        11,
        "Custom storage class",
        claim(1, claimInfo__storageClass="fast"),
        {"pvc": [{"claimInfo": {"storageClass": "fast"}}]},
        {"kind": "PersistentVolumeClaim", "spec": {"storageClassName": "fast"}},
        "storage class",
        slurm="Slurm has no storage classes",
    ),
    *(
        FieldRow(
            11,
            label_of_mode,
            claim(at, **{f"claimInfo__accessModes__{mode}": "on"}),
            {"claimInfo": {"accessModes": {mode: True}}},
            {"kind": "PersistentVolumeClaim", "spec": {"accessModes": [IN_CLUSTER[mode]]}},
        )
        for at, (label_of_mode, mode) in enumerate(MODES.items())
    ),
    *(
        FieldRow(
            11,
            f"Claim size in {unit}",
            claim(at, claimInfo__size="10", claimInfo__size__unit=unit),
            {"claimInfo": {"size": f"10{unit}"}},
            {"resources": {"requests": {"storage": f"10{unit}"}}},
        )
        for at, unit in enumerate(UNITS)
    ),
    FieldRow(
        11,
        "Volume mode Block",
        claim(3, claimInfo__volumeMode="Block"),
        {"claimInfo": {"volumeMode": "Block"}},
        {"volumeDevices": [{"devicePath": "/data-3"}]},
        "no block devices",
        slurm="no block devices",
    ),
    FieldRow(
        11,
        "Volume mode Filesystem",
        claim(4, claimInfo__volumeMode=""),
        {"claimInfo": {"volumeMode": "Filesystem"}},
        {"kind": "PersistentVolumeClaim", "spec": {"volumeMode": "Filesystem"}},
    ),
    FieldRow(
        11,
        "Container path",
        claim(5, path="/models"),
        {"pvc": [{"path": "/models"}]},
        {"volumeMounts": [{"mountPath": "/models"}]},
        slurm=Script("/models"),
    ),
    FieldRow(
        11,
        "Ephemeral",
        claim(4, ephemeral="on"),
        {"pvc": [{"ephemeral": True}]},
        {
            "kind": "PersistentVolumeClaim",
            "metadata": {"labels": {"trainyard.io/ephemeral": "true"}},
        },
    ),
)
GENERAL = (
    FieldRow(
        13,
        "Grace period",
        lasting(GRACE, "5", "min"),
        {GRACE: 300},
        {GRACE: 300},
        {GRACE: 300},
        Script("GRACE=300"),
    ),
    FieldRow(
        13,
        "Backoff limit",
        {"backoffLimit": "3"},
        {"backoffLimit": 3},
        {"backoffLimit": 3},
        {"backoffLimit": 3},
        Script("BACKOFF_LIMIT=3"),
    ),
    # Trainyard does this itself on every cluster; no engine gets it.
    FieldRow(13, "Timeframe for auto-deletion", lasting(DELETION, "0", "sec"), {DELETION: 0}, {}),
    FieldRow(
        13,
        "+ANNOTATION",
        label("annotations", name="networks", value="rdma"),
        {"annotations": [{"name": "networks", "value": "rdma"}]},
        {"template": {"metadata": {"annotations": {"networks": "rdma"}}}},
    ),
    FieldRow(
        13,
        "+LABEL",
        label("labels", name="team", value="vision"),
        {"labels": [{"name": "team", "value": "vision"}]},
        {"template": {"metadata": {"labels": {"team": "vision"}}}},
    ),
)
ROWS = (*SIZE, *VOLUMES, *GENERAL)
