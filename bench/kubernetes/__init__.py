"""Compares Trainyard with the bare Kubernetes client and with kubectl, on a real API server."""
