"""Convert specs and drafts to and from documents: JSON, YAML, requests."""
