"""Simulate a messy reading log of two groups of people.

Forty participants read pages in three sessions each. Seekers follow the link that opens the most information gaps,
browsers any link. The log has what real logs have: ISO dates, pages without a title, pages that are not in the graph,
reloads, pauses between sessions, and a group and a questionnaire score per participant. Writes links.csv and log.csv.
"""

import csv
import sys
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

import curiograph as cg

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(0)
pages = cg.generate("er", nodes=30, seed=1)
titles = [f"Topic {page // 3 + 1}, part {page % 3 + 1}" for page in range(30)]
with open(folder / "links.csv", "w", newline="") as file:
    links = csv.writer(file)
    links.writerow(["source", "target"])
    links.writerows([titles[a], titles[b]] for a, b in pages.to_networkx().edges)

events = []
for participant in range(40):
    is_seeker = participant % 2 == 1
    person = [f"P{participant + 1:02d}", "seekers" if is_seeker else "browsers", round(rng.normal(4 + is_seeker), 1)]
    time = datetime(2026, 3, 2, 9) + timedelta(hours=int(rng.integers(8)))
    for session in range(3):
        start, steps = int(rng.integers(30)), int(rng.integers(9, 17))
        walk = cg.explore(
            pages, "greedy" if is_seeker else "random", "igt", start, steps, seed=100 * participant + session
        )
        for page in walk:
            time += timedelta(seconds=int(rng.integers(10, 300)))
            events.append([person[0], titles[page], time.isoformat(sep=" "), *person[1:]])
            if rng.random() < 0.1:  # a reload, a page without a title, or one that is not part of the graph
                time += timedelta(seconds=5)
                noise = ["", "Main Page", titles[page]][rng.integers(3)]
                events.append([person[0], noise, time.isoformat(sep=" "), *person[1:]])
        time += timedelta(days=int(rng.integers(1, 4)))
rng.shuffle(events)  # as exported by a server: in no order
with open(folder / "log.csv", "w", newline="") as file:
    log = csv.writer(file)
    log.writerow(["participant", "article", "date", "group", "score"])
    log.writerows(events)
print(f"{len(events):,} events of 40 participants on {len(titles)} pages: {folder / 'log.csv'}, {folder / 'links.csv'}")
