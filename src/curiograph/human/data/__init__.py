"""Readers of human navigation data, and dataset downloads."""
