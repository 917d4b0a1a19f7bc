"""The command `curiograph doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from curiograph.cli import options
from curiograph.cli.output import check_out, print_remark, show_json, show_progress, show_table, write_result

if TYPE_CHECKING:
    from curiograph.cli.checks import DoctorReport


def doctor(out: options.Out = None, json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Check the installation: versions, extras, caches, data, agents and kernels; list problems and their solutions.

    The exit code is 0 without problems and 1 with problems.

    [bold]curiograph doctor[/bold]
    """
    from curiograph.cli.checks import run_checks

    check_out(out, (".json",))
    with show_progress(quiet) as progress:
        progress("checking; kernels may have to be compiled")
        report = run_checks()
    document = report.to_dict()
    write_result(out, document)
    if json:
        show_json(document)
    else:
        _show_report(report)
        for line in report.remarks:
            print_remark(line, quiet)
    if report.problems:
        raise typer.Exit(1)


def _show_report(report: DoctorReport) -> None:
    machine, kernels, data, agents = report.machine, report.kernels, report.data, report.agents
    memory = "unknown memory" if machine["memory_bytes"] is None else f"{machine['memory_bytes'] / 1e9:.1f} GB"
    threads = "".join(f", {name}={value}" for name, value in machine["threads"].items())
    state = f"{kernels['compiled']} compiled, {kernels['bytes'] / 1e6:.1f} MB" if kernels["compiled"] else "cold"
    overview = [
        ("machine", machine["platform"]),
        ("cores, memory", f"{machine['usable_cores']} of {machine['cores']} cores, {memory}{threads}"),
        ("kernel cache", f"{kernels['folder']} ({state})" if kernels["folder"] else "none: not writable"),
        ("kernels", "correct" if kernels["correct"] else "do not work"),
        ("data cache", f"{data['cache'] or 'none'}{'' if data['writable'] else ' (not writable)'}"),
        ("CURIOGRAPH_DATA", data["CURIOGRAPH_DATA"] or "not set"),
        ("datasets", "\n".join(f"{name}: {folder}" for name, folder in data["found"].items()) or "none found"),
        ("shipped agents", f"{agents['shipped'] - len(agents['broken'])} of {agents['shipped']} can be read"),
    ]
    show_table("", ("what", "found"), overview)
    if report.extras:
        rows = []
        for extra in report.extras:
            lacking = f"lacks {', '.join(extra['missing'])}: {extra['install']}"
            rows.append([extra["name"], extra["purpose"], "installed" if extra["installed"] else lacking])
        show_table("extras", ("extra", "for", "state"), rows)
    show_table("versions", ("package", "version"), [[name, each or "-"] for name, each in report.versions.items()])
    for line in report.problems:
        print(f"problem: {line}")
    print(f"{len(report.problems)} problems" if len(report.problems) != 1 else "1 problem")
