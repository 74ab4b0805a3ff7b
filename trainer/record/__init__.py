"""What a training records: checkpoints, metrics and its speed."""
