"""Public names: `__init__.py` imports each when it is first used."""

from .function_agent import FunctionAgent as FunctionAgent
from .function_agent import from_function as from_function
