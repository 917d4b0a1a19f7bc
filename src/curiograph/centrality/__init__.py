"""PageRank, PageRank walked by curious agents, mixtures of them, and recommendation."""
