"""Motives of human choices, compared by likelihood."""
