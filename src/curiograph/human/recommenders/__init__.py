"""Offline evaluation of recommenders: splits of a log, methods, measures of lists, and trade-offs between them."""
