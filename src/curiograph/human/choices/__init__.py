"""Choice sets, count-based baselines and metrics."""
