"""What a rank is started with: its image, its variables, its command line."""
