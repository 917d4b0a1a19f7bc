"""Statistics of people, on plain arrays: intervals, tests, effect sizes, survival. The person is the unit of resampling."""
