"""The sections of the wizard: one module each, and a row in the table."""
