"""Values within parts: names, amounts, variables."""
