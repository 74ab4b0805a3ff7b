"""The sections of the wizard: one module for each, and a table of all."""
