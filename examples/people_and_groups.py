"""From a messy log to results per person: read it, measure every session, look at gaps, and compare two groups.

The log is simulated by reading_log.py; replace its two files by your own links and events. Writes people.csv,
groups.csv, curves.png, survival.png and groups.png.
"""

import runpy
import sys
from pathlib import Path

import curiograph as cg

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
runpy.run_path(str(Path(__file__).with_name("reading_log.py")))  # writes links.csv and log.csv to the same folder

# Columns are found by their names, and a pause of more than 30 minutes starts a new session. Pages without a title or
# outside of the graph are left out and counted.
graph = cg.read_graph(folder / "links.csv")
people = cg.human.read_log(folder / "log.csv", session_gap="30min", keep=["group", "score"])
growths = cg.measure(graph, people)
print("left out:", growths.skipped)
growths.plot("group").figure.savefig(folder / "curves.png", dpi=120, bbox_inches="tight")

# A gap that is open when the session ends is censored: it would have lived longer. The band resamples people.
survival = cg.gap_survival(growths, "group")
print(survival)
survival.plot().figure.savefig(folder / "survival.png", dpi=120, bbox_inches="tight")

# One row per session with all measures. Means are over people, intervals resample people, and the test permutes people.
table = cg.profile(graph, people)
table.per_user().to_csv(folder / "people.csv", index=False)
groups = cg.compare_groups(table, "group", measures=["nodes", "beta1", "compressibility"])
print(groups.answer)
groups.to_frame().to_csv(folder / "groups.csv", index=False)
groups.plot().figure.savefig(folder / "groups.png", dpi=120, bbox_inches="tight")

# The rank correlation of a questionnaire score with each measure, over people.
scores = cg.correlate(table, "score", measures=["beta1", "compressibility"])
print(scores.to_frame()[["measure", "people", "rho", "rho_low", "rho_high", "p_holm"]])
