"""Everything that goes through Valkey: task messages, leases, slots and live updates."""
