"""The content of the wizard's pages."""
