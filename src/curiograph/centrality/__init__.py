"""Centralities: PageRank, PageRank walked by an agent, and statistics of random walks."""
