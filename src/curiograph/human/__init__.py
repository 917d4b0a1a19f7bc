"""Human walks on graphs: datasets, trajectories, prediction of choices, and tests of motives.

>>> import curiograph as cg
>>> cg.human.Trajectories.from_walks([["a", "b"], ["b", "c", "a"]])
Trajectories(2 walks by 2 users, 5 visits of 3 nodes)
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
