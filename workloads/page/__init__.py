"""What the workload's page says: its life, its cause, its numbers, its spec. No HTTP here."""
