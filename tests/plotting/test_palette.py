"""Colors are distinguishable with color vision deficiencies and in gray."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from curiograph.plotting import COLORS, LINE_STYLES, MARKERS, get_color

MAIN = ("igt", "cpt", "cct", "pagerank", "human", "mixture")
PAIRS = list(combinations(MAIN, 2))

# What each kind of eye sees of linear RGB: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, A physiologically-based
# model for simulation of color vision deficiency, IEEE TVCG 15(6), 2009, severity 1.0.
EYES = {
    "all colors": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])  # sRGB, D65


def linear(color: str) -> np.ndarray:
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear RGB."""
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_main_colors_differ_for_every_vision(eye, one, other):
    a, b = (lab(EYES[eye] @ linear(COLORS[name])) for name in (one, other))
    assert np.linalg.norm(a - b) > 15  # a difference of 2 is just seen, of 10 at a glance


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_similar_grays_differ_in_dash_and_marker(one, other):
    light = [lab(linear(COLORS[name]))[0] for name in (one, other)]
    assert abs(light[0] - light[1]) > 12 or (LINE_STYLES[one] != LINE_STYLES[other] and MARKERS[one] != MARKERS[other])


def test_name_has_the_color_of_its_prefix():
    assert get_color("cpt-ws") == COLORS["cpt"]
    assert get_color("beam:64") == COLORS["beam"]
    assert get_color("somebody", "text") == COLORS["text"]
