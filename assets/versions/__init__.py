"""What assets were before each change, and the way back."""
