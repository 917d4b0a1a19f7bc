"""Null models of human walks: graphs, walks and growing networks that human growth is compared with."""
