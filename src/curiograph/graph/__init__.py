"""The graph: container, readers and writers, generators."""
