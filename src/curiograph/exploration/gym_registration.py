"""The id under which gymnasium finds the exploration environment, known as soon as both packages are imported.

gymnasium 1.0 removed the `gymnasium.envs` entry points that used to announce environments of other packages: a package
must now be imported before `gymnasium.make` knows its ids. Importing gymnasium just to register would cost every
`import curiograph` a quarter of a second, so we wait until somebody else imports it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

ENV_ID = "curiograph/Exploration-v0"


def register() -> None:
    """Make `gymnasium.make("curiograph/Exploration-v0", graph=...)` work; a second call changes nothing.

    >>> register()
    >>> import gymnasium
    >>> gymnasium.spec("curiograph/Exploration-v0").entry_point
    'curiograph.exploration.gym_env:ExplorationEnv'
    """
    import gymnasium

    if ENV_ID not in gymnasium.registry:
        # a string: gymnasium loads the module, and numba with it, when the first environment is made
        gymnasium.register(id=ENV_ID, entry_point="curiograph.exploration.gym_env:ExplorationEnv")


def register_when_imported() -> None:
    """Register now if gymnasium is imported already, otherwise at the moment it is."""
    if "gymnasium" in sys.modules:
        register()
    elif not any(isinstance(finder, _Waiting) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Waiting())


class _Waiting:
    """Stands in front of the import system until gymnasium passes, then leaves."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "gymnasium":
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(fullname, path, target) for finder in others)), None)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            register()
            # not before: looking for a spec, or an import that fails, is not yet an import
            if self in sys.meta_path:
                sys.meta_path.remove(self)

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec
