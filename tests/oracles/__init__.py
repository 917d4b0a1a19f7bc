"""Reference implementations that follow the definitions."""
