"""The typed vocabulary that forms, REST, the command line and all engines share. pydantic only, no
I/O."""
