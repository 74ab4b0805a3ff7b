"""What is wrong, ruled, or waited for, in words for people."""
