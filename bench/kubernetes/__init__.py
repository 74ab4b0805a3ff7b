"""Trainyard beside the bare client and kubectl, on a real API server."""
