"""Specs and drafts as documents: JSON, YAML, requests."""
