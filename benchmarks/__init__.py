"""Benchmarks: speed compared with other libraries, the service under load, the page in a browser, and scale."""
