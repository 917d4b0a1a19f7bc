"""Rankers and recommendations for a history of visited nodes."""
