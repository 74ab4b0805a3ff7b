"""Values that parts are made of: names, amounts, variables."""
