"""Profiles of walks: every measure of the literature in one table, and curiosity styles."""
