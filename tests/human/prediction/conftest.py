"""A small study whose candidates are scored once for several test modules."""

from __future__ import annotations

import pytest

from curiograph.human.prediction.predict import Effort, draw_choices, make_study, score_components
from support import people

SMALL = Effort(splits=2, trials=4, train_steps=4, walkers=20, trained_walkers=10, steps=3, windows=80, all_windows=30)


@pytest.fixture(scope="session")
def study():
    return make_study(people.walkers())


@pytest.fixture(scope="session")
def choices(study):
    return draw_choices(study, SMALL)


@pytest.fixture(scope="session")
def scored(study, choices):
    return score_components(study, choices, {}, SMALL)["last"]
