"""Versions of assets."""
