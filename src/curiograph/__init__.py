"""Curiosity on graphs: measure how a walk grows knowledge, explore with curious agents, rank and recommend.

>>> import curiograph as cg
>>> g = cg.generate("rg", nodes=50, seed=0)
>>> walk = cg.explore(g, agent="beam", reward="igt", start=0, steps=10, seed=0)
>>> len(walk.nodes)
10
"""

import lazy_loader

from curiograph.exploration.gym_registration import register_when_imported

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

register_when_imported()
