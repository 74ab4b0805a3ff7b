"""Functions that several engines share. They are not part of the protocol."""
