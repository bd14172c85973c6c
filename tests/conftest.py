"""How hypothesis searches."""

import os

from hypothesis import HealthCheck, settings

# The same examples in every run: a red CI must be red here too. HYPOTHESIS_PROFILE=search looks further.
settings.register_profile(
    "default",
    derandomize=True,
    deadline=None,
    max_examples=150,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", deadline=None, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
