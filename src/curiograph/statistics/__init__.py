"""Statistics of people, on plain arrays: intervals, tests, effect sizes, survival; people are resampled."""
