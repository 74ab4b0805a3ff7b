"""Requests that submit workloads, or check whether they could be submitted."""
