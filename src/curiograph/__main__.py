"""`python -m curiograph` is the same program as `curiograph`."""

from curiograph.cli.main import main

main()
