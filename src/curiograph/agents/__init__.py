"""Agents: who picks the next node."""
