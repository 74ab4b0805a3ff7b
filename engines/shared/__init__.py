"""What several engines do alike. Plain functions; not part of the protocol."""
