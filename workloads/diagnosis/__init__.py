"""Find out why a workload failed, from the last lines that its ranks printed."""

from workloads.diagnosis.base import FailureClass, Fault
from workloads.diagnosis.classes import BY_ID, CLASSES
from workloads.diagnosis.record import record_diagnosis, refusal_class

__all__ = ["BY_ID", "CLASSES", "FailureClass", "Fault", "record_diagnosis", "refusal_class"]
