"""What the wizard offers to choose from."""
