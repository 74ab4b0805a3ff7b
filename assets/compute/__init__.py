"""What each pod requests: GPUs or a fraction of one, CPU and memory."""
