"""Register the exploration environment with Gymnasium when both packages are imported.

Gymnasium 1.0 removed the entry points for environments of other packages: a package must be imported before
`gymnasium.make` finds its ids. Importing Gymnasium only to register would add a quarter of a second to every
`import curiograph`, so registration is deferred until Gymnasium is imported.
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
    """Register `curiograph/Exploration-v0` with `gymnasium.make`; a second call has no effect.

    >>> register()
    >>> import gymnasium
    >>> gymnasium.spec("curiograph/Exploration-v0").entry_point
    'curiograph.exploration.gym_env:ExplorationEnv'
    """
    import gymnasium

    if ENV_ID not in gymnasium.registry:
        # an entry point in text form: Gymnasium imports the module, and numba, when it makes the first environment
        gymnasium.register(
            id=ENV_ID,
            entry_point="curiograph.exploration.gym_env:ExplorationEnv",
            vector_entry_point="curiograph.exploration.gym_vector_env:ExplorationVectorEnv",
        )


def register_when_imported() -> None:
    """Register now if Gymnasium is already imported, otherwise as soon as it is."""
    if "gymnasium" in sys.modules:
        register()
    elif not any(isinstance(finder, _ImportHook) for finder in sys.meta_path):
        sys.meta_path.insert(0, _ImportHook())


class _ImportHook:
    """Import hook that registers the environment after Gymnasium was imported, and then removes itself."""

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
            # only now: finding a spec, or a failed import, is not an import
            if self in sys.meta_path:
                sys.meta_path.remove(self)

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec
