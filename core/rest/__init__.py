"""What all parts of the REST API share."""
