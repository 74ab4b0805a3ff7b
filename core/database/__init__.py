"""Connections and fields that every model may use."""
