"""Read the state of cluster objects as phases, causes and exits. Pure."""
