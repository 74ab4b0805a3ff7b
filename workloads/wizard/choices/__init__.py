"""The choices that the wizard offers."""
