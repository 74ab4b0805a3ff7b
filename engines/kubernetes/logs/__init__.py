"""What pods print, read as it is printed."""
