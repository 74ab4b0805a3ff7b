"""Turn a launch into a plan for the supervisor."""
