"""The overview: what needs its reader, what runs and waits now, and how GPUs were used."""
