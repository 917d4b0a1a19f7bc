"""The command `curiograph warmup`."""

from __future__ import annotations

from curiograph.cli import options
from curiograph.cli.output import check_out, emit, show_progress


def warmup(output: options.Output) -> None:
    """Compile all kernels ahead of time, so that the first real call is fast."""
    from curiograph.warmup import warm_up

    check_out(output.out)
    with show_progress(output.quiet) as progress:
        progress("compiling kernels")
        facts = {"seconds": round(warm_up(), 1)}
    emit(output, facts, [facts], title="kernels are ready")
