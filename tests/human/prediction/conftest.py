"""A small prediction run that several test modules share."""

from __future__ import annotations

import pytest

from curiograph.human.prediction.predict import Effort, prepare_run
from support import people

SMALL = Effort(splits=2, trials=4, train_steps=4, walkers=20, trained_walkers=10, steps=3, windows=80, all_windows=30)


@pytest.fixture(scope="session")
def prediction_run():
    return prepare_run(people.walkers(), {"igt": "greedy", "cpt": "greedy"}, effort=SMALL)


@pytest.fixture(scope="session")
def scored(prediction_run):
    return prediction_run.scored["last"]
