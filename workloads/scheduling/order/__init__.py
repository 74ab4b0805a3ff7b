"""The order of starts as pure functions: who goes first, who waits, who is taken back. And keeping
what was decided."""
