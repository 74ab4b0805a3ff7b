"""What a training leaves: checkpoints, numbers, how fast it was."""
