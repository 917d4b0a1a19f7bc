"""Routes of the REST service."""
