"""Measure how the knowledge network of a text grows, sentence by sentence, and join ratings of readers.

Sentences are linked if their words are similar. The story and its ratings are invented: the ratings only show how those
of your readers are joined, and their correlation means nothing. Prints a table and writes text_segments.png.
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

import curiograph as cg

STORY = """A lamp burned in the old lighthouse every night.
The keeper of the lighthouse wrote each ship into a book.
One night a ship without a name passed the harbor.
In the harbor, people spoke of a bell under the water.
The bell rang whenever the lamp went out.
Nobody in the village had ever seen the bell.
A girl from the village found a key in the sand.
The key was made of brass and carried a number.
The same number stood in the book of the keeper.
She climbed to the lamp and showed him the key.
A brass box behind the lamp had no lock but a dial.
She turned the dial to the number, and the box opened.
Inside the box lay a letter about the ship without a name.
The ship had carried the bell as a gift for the village.
It sank near the harbor when the lamp went out one night.
Now the bell of the ship rings beside the lighthouse.""".splitlines()
RATINGS = [2, 3, 5, 5, 6, 6, 5, 6, 6, 5, 6, 5, 5, 4, 3, 2]

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
network = cg.human.segment_network(STORY, threshold=0.18, ratings=RATINGS)
frame = network.measure()
print(network)
print(frame.to_string(index=False))
print("correlation with the rating:", frame[["beta0", "beta1"]].corrwith(frame["rating"], method="spearman").to_dict())
for gap in cg.measure(network.graph, network.walk).gaps:
    print(f"sentence {gap.opened_by} opens a gap,", f"{gap.closed_by} closes it" if gap.closed_by else "it stays open")

figure = Figure(figsize=(9, 4.5), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[1.3, 1])
numbered = cg.Graph.from_scipy(network.graph.to_scipy(), nodes=network.walk)  # without beginnings of sentences
cg.plot_walk(numbered, network.walk, left)
right.step(frame["segment"], frame["beta0"], where="post", color="gray", linestyle="--", label="components")
right.step(frame["segment"], frame["beta1"], where="post", color=cg.plotting.COLORS["igt"], label="gaps")
right.set(xlabel="sentence", ylabel="number", xticks=network.walk[::3], yticks=range(frame["beta1"].max() + 1))
right.spines[["top", "right"]].set_visible(False)
right.legend(frameon=False)
figure.savefig(folder / "text_segments.png", dpi=120)
