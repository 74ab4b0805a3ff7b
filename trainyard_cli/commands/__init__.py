"""The commands. Each module has one subject, and its ``add`` adds its commands to the program."""
