"""What the programs learn from: images in the files they came in, or made here."""
