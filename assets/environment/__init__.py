"""An image with its command, variables, tools and rights."""
