"""Why a workload failed, read from what its ranks printed last."""

from workloads.diagnosis.base import FailureClass, Fault
from workloads.diagnosis.classes import BY_ID, CLASSES
from workloads.diagnosis.record import note, of_a_refusal

__all__ = ["BY_ID", "CLASSES", "FailureClass", "Fault", "note", "of_a_refusal"]
