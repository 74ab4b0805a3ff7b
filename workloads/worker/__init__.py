"""What runs in the worker: watching clusters and bringing rows up to date."""
