"""From a launch to what a supervisor is told."""
