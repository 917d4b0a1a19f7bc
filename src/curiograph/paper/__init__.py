"""Experiments of the paper: one module per table or figure."""
