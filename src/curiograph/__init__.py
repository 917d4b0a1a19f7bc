"""Curiosity on graphs: measure how a walk grows knowledge, explore with curious agents, rank and recommend.

>>> import curiograph as cg
>>> g = cg.generate("rg", nodes=50, seed=0)
>>> walk = cg.explore(g, agent="beam", reward="igt", start=0, steps=10, seed=0)
>>> len(walk.nodes)
10
"""

import gymnasium
import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

gymnasium.register(  # the modules, and numba, are imported when the first environment is made
    id="curiograph/Exploration-v0",
    entry_point="curiograph.exploration.gym_env:ExplorationEnv",
    vector_entry_point="curiograph.exploration.gym_vector_env:ExplorationVectorEnv",
)
