"""Agents: who picks the next node.

>>> import curiograph as cg
>>> cg.agents.from_function(lambda history, candidates: candidates[0], name="first").name
'first'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
