"""Helpers that all pages and HTTP responses share."""
