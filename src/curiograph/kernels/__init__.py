"""Numba functions on arrays: no objects, no input or output, no randomness except from a seed argument.

Importing this package is cheap: each module, and numba with it, is imported on first use.

>>> from curiograph import kernels
>>> kernels.adjacency.has_edge.__name__
'has_edge'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
