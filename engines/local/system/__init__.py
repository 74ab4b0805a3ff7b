"""This machine: processes, limits, devices."""
