"""How far many trainings are, told from their logs while they run."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from curiograph.progress import Progress, no_progress
from curiograph.training.logging import read_log

_LOOK = 1.0  # seconds between two looks
_SHOWN = 3  # trainings that are told at a time
_NEARLY = 0.999  # the most that logs can tell: the job says when all is done


@contextmanager
def watch_logs(trainings: Sequence[tuple[Path, int]], progress: Progress) -> Iterator[Progress]:
    """Give what a job is to tell its progress to; between that, look at the logs of trainings (folder, steps)."""
    if progress is no_progress:
        yield no_progress
        return
    watch = _Watch(trainings, progress)
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK):
            watch.look()

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield watch
    finally:
        ended.set()
        looking.join()


class _Watch:
    """Tells whole trainings that a job has done, and the share of steps of those under way. It never falls."""

    def __init__(self, trainings: Sequence[tuple[Path, int]], progress: Progress) -> None:
        self._trainings, self._progress = trainings, progress
        self._logs = [_Log(folder / "log.jsonl") for folder, _ in trainings]
        self._before = [log.step() for log in self._logs]
        self._message, self._share = "", 0.0
        self._alone = threading.Lock()

    def __call__(self, message: str, share: float | None = None) -> None:
        self._message, self._share = message, max(self._share, share or 0.0)
        self.look()

    def look(self) -> None:
        """Tell what the logs say now."""
        with self._alone:
            steps = [log.step() for log in self._logs]
            shares = [min(1.0, step / total) for step, (_, total) in zip(steps, self._trainings, strict=True)]
            moving = [
                f"{folder.name} {share:.0%}"
                for (folder, _), share, step, before in zip(self._trainings, shares, steps, self._before, strict=True)
                if share < 1 and step != before
            ]
            self._share = max(self._share, min(_NEARLY, sum(shares) / len(shares)))
            more = f"; {', '.join(moving[-_SHOWN:])}" if moving and self._share < 1 else ""
            self._progress(self._message + more, self._share)


class _Log:
    """The log of a training, read again only where it has another size: many trainings have long logs."""

    def __init__(self, path: Path) -> None:
        self._path, self._size, self._step = path, 0, 0

    def step(self) -> int:
        """The last step that the training has told of; 0 where there is no log that can be read."""
        try:
            size = self._path.stat().st_size
            if size != self._size:
                reports = read_log(self._path)
                self._size, self._step = size, int(reports[-1]["step"]) if reports else 0
        except (OSError, ValueError):  # of no use to the training either, which will say so
            self._size, self._step = 0, 0
        return self._step
