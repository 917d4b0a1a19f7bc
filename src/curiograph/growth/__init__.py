"""Growth of knowledge along a walk: per-step measures, gaps, plots."""
