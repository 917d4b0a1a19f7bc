"""Training settings and presets."""

from __future__ import annotations

import pytest

import curiograph as cg
from curiograph.agents.gnn import GnnShape
from curiograph.training.config import DqnSettings, make_settings


def test_paper_preset_is_the_published_configuration():
    s = DqnSettings.paper()
    assert (s.discount, s.learning_rate, s.loss, s.batch, s.buffer) == (0.75, 3e-4, "mse", 32, 50_000)
    assert (s.warmup, s.updates, s.target_every, s.train_steps, s.validate_every) == (320, 1, 16, 50_000, 1000)
    assert (s.returns, s.double, s.final_rate, s.act_with, s.scale_returns) == (1, False, 1.0, "target", False)
    assert s.steepest == 0
    assert (s.epsilon_first, s.epsilon_last, s.shape) == (1.0, 0.1, GnnShape())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"train_steps": 0}, "train_steps is 0"),
        ({"discount": 2}, "discount is 2"),
        ({"loss": "l1"}, "mse, huber"),
        ({"double": "yes"}, "True or False"),
        ({"nonsense": 1}, "no setting 'nonsense'"),
        ({"aggregation": "max"}, "mean, sum"),
    ],
)
def test_bad_settings_are_refused(changes, words):
    with pytest.raises(cg.SettingError, match=words):
        make_settings("gnn", "best", changes)
