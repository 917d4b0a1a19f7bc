"""The Graph class, readers and writers, generators."""
