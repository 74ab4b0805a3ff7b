"""What the pages of the wizard show."""
