"""Compare the growth of the walks in a click log with null models.

The log is simulated: forty readers of a small-world graph of pages who maximize compressibility. Replace it by your own
table with the columns user, page and time, and the graph by your own links. Writes log.csv and growth.png.
"""

import csv
import sys
from pathlib import Path

import curiograph as cg

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
links = cg.generate("ws", nodes=60, seed=1)  # your own: cg.read_graph("links.tsv", directed=True)
with open(folder / "log.csv", "w", newline="") as file:
    log = csv.writer(file)
    log.writerow(["user", "page", "time"])
    for reader in range(40):
        walk = cg.explore(links, agent="greedy", reward="cpt", start=reader, steps=10, seed=reader)
        log.writerows([f"reader {reader}", page, minute] for minute, page in enumerate(walk.nodes))

links = cg.Graph.from_edges([(str(a), str(b)) for a, b in links.to_networkx().edges])  # labels in a log are strings
walks = cg.human.read_log(folder / "log.csv").on(links)
print(walks)

found = cg.human.compare_growth(links, walks, nulls=["random-walk", "unbiased"], steps=10, replicates=5)
print(*found.answers, sep="\n")
found.plot().savefig(folder / "growth.png", dpi=120, bbox_inches="tight")
