"""Plots of graphs and plain arrays, used by the `plot` methods of all results.

Every reward, ranking and agent has one color everywhere; see `palette`. Lines also differ in dash or marker, and gaps
in being filled or outlined, so that figures can be printed in gray.
"""

from __future__ import annotations

from curiograph.plotting.charts import plot_curves as plot_curves
from curiograph.plotting.charts import plot_distributions as plot_distributions
from curiograph.plotting.charts import plot_intervals as plot_intervals
from curiograph.plotting.charts import plot_panels as plot_panels
from curiograph.plotting.charts import plot_places as plot_places
from curiograph.plotting.charts import plot_ranking as plot_ranking
from curiograph.plotting.charts import plot_rate_distortion as plot_rate_distortion
from curiograph.plotting.charts import plot_scores as plot_scores
from curiograph.plotting.charts import plot_survival as plot_survival
from curiograph.plotting.figures import Axes as Axes
from curiograph.plotting.figures import Figure as Figure
from curiograph.plotting.figures import create_figure as create_figure
from curiograph.plotting.figures import save_figure as save_figure
from curiograph.plotting.growth import plot_barcode as plot_barcode
from curiograph.plotting.growth import plot_growth as plot_growth
from curiograph.plotting.growth import plot_growths as plot_growths
from curiograph.plotting.growth import plot_persistence_diagram as plot_persistence_diagram
from curiograph.plotting.palette import COLORS as COLORS
from curiograph.plotting.palette import LINE_STYLES as LINE_STYLES
from curiograph.plotting.palette import MARKERS as MARKERS
from curiograph.plotting.palette import get_color as get_color
from curiograph.plotting.walks import DrawnGap as DrawnGap
from curiograph.plotting.walks import DrawnWalk as DrawnWalk
from curiograph.plotting.walks import draw_walk as draw_walk
from curiograph.plotting.walks import plot_recommendations as plot_recommendations
from curiograph.plotting.walks import save_animation as save_animation
