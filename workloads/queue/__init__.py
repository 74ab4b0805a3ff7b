"""The decisions of admission in a cluster, and how accurate the forecasts were."""
