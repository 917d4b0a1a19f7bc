"""Measure one walk by the three theories of curiosity.

The walk first goes around a square, which opens an information gap (igt) and is a linkage that moves in the plane
(cct). The fifth node is linked to all four corners: it closes the gap, makes the network more compressible (cpt), and
adds more links than fit in the plane, so the network rises to three dimensions. The sixth adds as many links as
dimensions, and no way to move. Every further node has a single link and hangs loose: it adds two ways to move, because
the dimension does not fall again. Prints a table and writes three_theories.png.
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

import curiograph as cg

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
square = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
hub = [("e", "a"), ("e", "b"), ("e", "c"), ("e", "d")]
rigid = [("f", "a"), ("f", "b"), ("f", "e")]
loose = [("g", "a"), ("h", "c"), ("i", "d")]
graph = cg.Graph.from_edges(square + hub + rigid + loose)
walk = list("abcdefghi")
growth = cg.measure(graph, walk)

print(growth.to_frame()[["step", "node", "edges", "beta1", "compressibility", "dimension", "freedom", "conformable"]])

theories = {
    "igt": ("information gaps", growth.beta1),
    "cpt": ("compressibility (bits)", growth.compressibility),
    "cct": ("degrees of freedom", growth.conformable),
}
figure = Figure(figsize=(9, 7), layout="constrained")
panels = figure.subplot_mosaic([["walk", reward] for reward in theories], width_ratios=[1.2, 1])
cg.plot_walk(graph, walk, panels["walk"])
for reward, (label, values) in theories.items():
    panel = panels[reward]
    panel.plot(growth.nodes, values, marker=cg.plotting.MARKERS[reward], color=cg.plotting.COLORS[reward])
    panel.set(title=reward, ylabel=label)
    panel.set_ylim(bottom=0)
    panel.spines[["top", "right"]].set_visible(False)
panel.set_xlabel("node visited")
figure.savefig(folder / "three_theories.png", dpi=150)
