"""A frozen benchmark that any agent can enter, and the table of its results."""
