"""Statistics of people: measures of walks, groups, scores, styles and null models."""
