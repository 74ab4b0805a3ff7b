"""What runs only in the worker: watching clusters, and bringing rows up to date."""
