"""A small study whose candidates are scored once for several test modules."""

from __future__ import annotations

import pytest

from curiograph.human.prediction.predict import draw_choices, make_study, score_components
from support import people


@pytest.fixture(scope="session")
def study():
    return make_study(people.walkers())


@pytest.fixture(scope="session")
def choices(study):
    return draw_choices(study, people.SMALL)


@pytest.fixture(scope="session")
def scored(study, choices):
    return score_components(study, choices, {}, people.SMALL)["last"]
