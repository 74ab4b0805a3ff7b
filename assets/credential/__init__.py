"""Passwords, keys and tokens: named in workloads, kept encrypted, handed over at the start."""
