"""All failure classes, the most specific first: if a line fits several, the first counts."""

from workloads.diagnosis.base import FailureClass
from workloads.diagnosis.classes import access, cluster, device, files, gang, program, tensors

CLASSES: tuple[FailureClass, ...] = (
    *device.CLASSES,
    *gang.CLASSES,
    *access.SERVICES,
    *access.NETWORK,
    *tensors.CLASSES,
    *program.CODE,
    *files.CLASSES,
    *program.ANYTHING,
    *cluster.CLASSES,
)
BY_ID = {one.id: one for one in CLASSES}
