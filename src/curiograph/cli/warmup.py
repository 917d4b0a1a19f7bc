"""The command `curiograph warmup`."""

from __future__ import annotations

from curiograph.cli import options
from curiograph.cli.output import print_remark, show_json, show_progress


def warmup(json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Compile all kernels ahead of time, so that the first real call is fast."""
    from curiograph.warmup import warm_up

    with show_progress(quiet) as progress:
        progress("compiling kernels")
        seconds = warm_up()
    if json:
        show_json({"seconds": seconds})
    else:
        print_remark(f"kernels ready after {seconds:.1f} s", quiet)
