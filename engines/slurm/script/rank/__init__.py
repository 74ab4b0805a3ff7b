"""What a rank is started with: its image, variables and command line."""
