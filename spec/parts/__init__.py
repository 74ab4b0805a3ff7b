"""Parts of a specification: what runs, on what, where."""
