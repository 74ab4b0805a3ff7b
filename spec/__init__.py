"""The typed vocabulary that every door and every engine shares. pydantic only, no I/O."""
