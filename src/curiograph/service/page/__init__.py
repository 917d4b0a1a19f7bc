"""The page at `/`: walk yourself, or watch an agent walk, and see what grows."""
