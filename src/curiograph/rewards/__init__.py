"""Rewards: the value F(S) of the subgraph that a walk has visited."""
