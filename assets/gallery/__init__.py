"""The galleries of assets: cards, table and pages."""
