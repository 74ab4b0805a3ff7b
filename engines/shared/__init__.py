"""What several engines do in the same way. Plain functions; no part of the protocol."""
