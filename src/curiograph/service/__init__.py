"""The web face: a REST service, and a page on which people walk. Needs `pip install 'curiograph[web]'`."""
