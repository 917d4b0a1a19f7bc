"""The exploration MDP: many walks advancing together, and its gymnasium face."""
