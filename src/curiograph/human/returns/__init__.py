"""Walks that return: recurrence, and edge-reinforced Levy walks."""
