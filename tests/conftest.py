"""Settings shared by all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# the same examples in every run; the first call of a kernel compiles it, so no deadline
settings.register_profile(
    "same",
    derandomize=True,
    deadline=None,
    max_examples=60,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("same")
