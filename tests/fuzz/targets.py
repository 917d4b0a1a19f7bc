"""Coverage-guided fuzzing of every reader with atheris: `python tests/fuzz/targets.py READER [options of libFuzzer]`.

The corpus is made by our own writers when a target starts; `make fuzz` runs every target for FUZZ_SECONDS.
"""

from __future__ import annotations

import random
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

WATCHED = ["curiograph.graph", "curiograph.human", "curiograph.agents.pretrained", "curiograph.training.checkpoint",
           "curiograph.training.logging", "curiograph.recommendation.parts_file", "networkx.readwrite",
           "zipfile"]  # fmt: skip
"""Whose branches count as coverage; never a kernel, which numba could not compile any more."""


def main(name: str, options: list[str]) -> None:
    """Fuzz one reader until the options say stop; whatever is neither sound nor refused in a sentence ends it."""
    import atheris

    with atheris.instrument_imports(include=WATCHED):
        from support.hostile import READERS, spoiled
    if name not in READERS:
        sys.exit(f"there is no reader {name!r}; the readers are {', '.join(READERS)}.")
    reader = READERS[name]
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as made:
        folder, corpus = Path(made, "folder"), Path(made, "corpus")
        folder.mkdir()
        corpus.mkdir()
        for number, sample in enumerate(reader.samples(folder)):
            assert reader.outcome(sample, folder) is None
            (corpus / str(number)).write_bytes(sample)

        def mutate(data: bytes, most: int, seed: int) -> bytes:
            """Half by libFuzzer, half by our own ways, which reach what checksums and lengths protect."""
            chance = random.Random(seed)
            return spoiled(data, chance)[:most] if chance.randrange(2) else atheris.Mutate(data, most)

        atheris.Setup(
            ["fuzz", str(corpus), "-max_len=65536", "-timeout=20", "-rss_limit_mb=3000", *options],
            lambda data: reader.outcome(data, folder),
            custom_mutator=mutate,
        )
        atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        from support.hostile import READERS

        print("\n".join(READERS))
    elif len(sys.argv) < 2:
        sys.exit("give a reader: python tests/fuzz/targets.py READER [options of libFuzzer]; --list names them.")
    else:
        main(sys.argv[1], sys.argv[2:])
