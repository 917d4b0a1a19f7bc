"""Counter-based random numbers: a hash of (stream, step, item), so results do not depend on batching or workers."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel


@inner_kernel
def mix_bits(x):
    """Mix 64 bits (the finalizer of splitmix64)."""
    x = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def draw_bits(stream, step, item):
    """Return 64 random bits for `item` at `step` of a stream."""
    return mix_bits(
        mix_bits(np.uint64(stream) ^ mix_bits(np.uint64(step)))
        ^ mix_bits(np.uint64(item) + np.uint64(0x632BE59BD9B4E019))
    )


@inner_kernel
def draw_uniform(stream, step, item):
    """Return a uniform number in [0, 1) for `item` at `step` of a stream."""
    return (draw_bits(stream, step, item) >> np.uint64(11)) * 2.0**-53


@kernel
def make_streams(seed, task, count):
    """Return `count` independent streams for one task of a seeded run; stream i does not depend on `count`."""
    out = np.empty(count, np.uint64)
    for i in range(count):
        out[i] = draw_bits(seed, task, i)
    return out


@kernel
def draw_uniforms(stream, step, items):
    """Return a uniform number in [0, 1) for each of `items`."""
    out = np.empty(items.shape[0], np.float64)
    for i in range(items.shape[0]):
        out[i] = draw_uniform(stream[i], step[i], items[i])
    return out


@kernel
def branch_streams(stream, step, items):
    """Return the stream of each branch from a parent `stream` to an item."""
    out = np.empty(items.shape[0], np.uint64)
    for i in range(items.shape[0]):
        out[i] = draw_bits(stream[i], step, items[i])
    return out
