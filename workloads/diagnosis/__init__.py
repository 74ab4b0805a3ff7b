"""Find out why a workload failed, from the last lines that its ranks printed."""

from workloads.diagnosis.base import FailureClass, Fault
from workloads.diagnosis.classes import BY_ID, CLASSES
from workloads.diagnosis.record import note, of_a_refusal

__all__ = ["BY_ID", "CLASSES", "FailureClass", "Fault", "note", "of_a_refusal"]
