"""`curiograph doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from curiograph.cli import options
from curiograph.cli.output import check_out, print_remark, show_json, show_progress, show_table, write_result

if TYPE_CHECKING:
    from curiograph.cli.checks import DoctorReport


def doctor(out: options.Out = None, json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Show versions, extras, caches, data and agents, try the kernels, and say what is wrong and how to mend it.

    The exit code is 0 without problems and 1 with problems.

    [bold]curiograph doctor[/bold]
    """
    from curiograph.cli.checks import run_checks

    check_out(out, (".json",))
    with show_progress(quiet) as say:
        say("looking around; kernels may have to be compiled")
        found = run_checks()
    document = found.to_dict()
    write_result(out, document)
    if json:
        show_json(document)
    else:
        _show(found)
        for line in found.remarks:
            print_remark(line, quiet)
    if found.problems:
        raise typer.Exit(1)


def _show(found: DoctorReport) -> None:
    show_table("", ("what", "found"), [*_about(found)])
    if found.extras:
        rows = [[extra["name"], extra["purpose"], _state(extra)] for extra in found.extras]
        show_table("extras", ("extra", "for", "state"), rows)
    show_table("versions", ("package", "version"), [[name, each or "-"] for name, each in found.versions.items()])
    for line in found.problems:
        print(f"problem: {line}")
    print(f"{len(found.problems)} problems" if len(found.problems) != 1 else "1 problem")


def _state(extra: dict[str, Any]) -> str:
    return "installed" if extra["installed"] else f"lacks {', '.join(extra['missing'])}: {extra['install']}"


def _about(found: DoctorReport) -> list[tuple[str, str]]:
    machine, kernels, data, agents = found.machine, found.kernels, found.data, found.agents
    memory = "unknown memory" if machine["memory_bytes"] is None else f"{machine['memory_bytes'] / 1e9:.1f} GB"
    threads = "".join(f", {name}={value}" for name, value in machine["threads"].items())
    state = f"{kernels['compiled']} compiled, {kernels['bytes'] / 1e6:.1f} MB" if kernels["compiled"] else "cold"
    return [
        ("machine", machine["platform"]),
        ("cores, memory", f"{machine['usable_cores']} of {machine['cores']} cores, {memory}{threads}"),
        ("kernel cache", f"{kernels['folder']} ({state})" if kernels["folder"] else "none: cannot be written"),
        ("kernels", "compute what they should" if kernels["correct"] else "do not work"),
        ("data cache", data["cache"] + ("" if data["writable"] else " (cannot be written)")),
        ("CURIOGRAPH_DATA", data["CURIOGRAPH_DATA"] or "not set"),
        ("data sets", "\n".join(f"{name}: {place}" for name, place in data["found"].items()) or "none found"),
        ("shipped agents", f"{agents['shipped'] - len(agents['broken'])} of {agents['shipped']} can be read"),
    ]
