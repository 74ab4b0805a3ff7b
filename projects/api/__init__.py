"""Projects and departments by REST."""
