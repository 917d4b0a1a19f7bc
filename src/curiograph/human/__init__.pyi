"""Public names: `__init__.py` imports each when it is first used."""

from .choices.choice_table import ChoiceTable as ChoiceTable
from .choices.choice_table import read_choices as read_choices
from .data.cooccurrence import cooccurrence_graph as cooccurrence_graph
from .data.datasets import Dataset as Dataset
from .data.datasets import load_dataset as load_dataset
from .data.games import play_games as play_games
from .data.log_reader import read_log as read_log
from .data.segments import segment_network as segment_network
from .data.text_source import read_texts as read_texts
from .motives.hypotheses import hypotheses as hypotheses
from .people.game_measures import distance_by_step as distance_by_step
from .people.growth_comparison import compare_growth as compare_growth
from .people.styles import curiosity_styles as curiosity_styles
from .people.word_lists import estimate_network as estimate_network
from .people.word_lists import measure_lists as measure_lists
from .prediction.predict import FULL as FULL
from .prediction.predict import QUICK as QUICK
from .prediction.predict import Effort as Effort
from .prediction.predict import Recipe as Recipe
from .prediction.predict import predict as predict
from .trajectories import Trajectories as Trajectories
