"""Earlier versions of assets, and how to restore them."""
