"""The web page at `/`: build a walk yourself or let an agent build it, and see its gaps and compressibility grow."""
