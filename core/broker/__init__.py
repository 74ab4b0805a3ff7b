"""What goes through Valkey: tasks asked for, leases, slots and live updates."""
