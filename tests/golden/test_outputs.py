"""The outputs of public calls are those stored in outputs.json."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from golden.calls import CALLS, to_plain

STORED = json.loads(Path(__file__).with_name("outputs.json").read_text())


def flatten(value):
    return [item for part in value for item in flatten(part)] if isinstance(value, list) else [value]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_output(call):
    found = to_plain(call())
    assert list(found) == list(STORED[call.__name__])
    for name, stored in STORED[call.__name__].items():
        np.testing.assert_allclose(
            np.array(flatten(found[name]), float), np.array(flatten(stored), float), atol=1e-7, err_msg=name
        )
