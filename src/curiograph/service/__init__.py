"""REST service and web page. Needs `pip install 'curiograph[web]'`."""
