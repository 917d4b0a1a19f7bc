"""Recommendations: rankers, prepared parts of rankers, and reasons."""
