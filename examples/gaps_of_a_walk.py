"""List the gaps of a walk and plot the rate-distortion curve of the visited subgraph.

Prints the nodes that opened and closed each gap and its lifetime. The figure shows the walk, its growth, and the
rate-distortion curve; the shaded area is the compressibility. Writes gaps.png.
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

import curiograph as cg

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
graph = cg.generate("er", nodes=25, seed=0)
walk = cg.explore(graph, agent="random", reward="igt", start=0, steps=20, seed=0)

growth = cg.measure(graph, walk)
print(f"{'gap':>3} {'opened by':>9} {'closed by':>10} {'steps':>5}")
for number, gap in enumerate(growth.gaps, start=1):
    closed = "still open" if gap.closed_by is None else gap.closed_by
    print(f"{number:>3} {gap.opened_by:>9} {closed:>10} {gap.lifetime or '':>5}")

curve = cg.rate_distortion(graph.subgraph(walk.nodes))
print(f"entropy {curve.entropy:.2f} bits, compressibility {curve.compressibility:.2f} bits")
print("first merged:", next(cluster for cluster in curve.clusters[1] if len(cluster) > 1))

figure = Figure(figsize=(9, 6), layout="constrained")
panels = figure.subplot_mosaic([["walk", "growth"], ["walk", "curve"]], width_ratios=[1.3, 1])
walk.plot(panels["walk"])
growth.plot(panels["growth"])
curve.plot(panels["curve"])
figure.savefig(folder / "gaps.png", dpi=150)
