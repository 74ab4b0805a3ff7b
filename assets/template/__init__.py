"""Workloads to start from: every choice of the wizard, kept under a name."""
