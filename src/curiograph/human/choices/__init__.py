"""Choice sets and rank metrics of choices."""
