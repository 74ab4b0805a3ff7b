"""The style guide: every component with made-up values."""
