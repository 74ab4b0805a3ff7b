"""What all pages and answers share."""
