"""Most similar items of each item, from the product of the item-user matrix and its transpose, which is never stored.

Row i of the product counts the users that item i shares with every other item. Memory is a few arrays with one entry
per item.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel

COSINE = 0
PMI = 1


@inner_kernel
def _scramble(difference):
    """Return a number that is different for each difference of positions, by multiplication modulo 2^32."""
    return (difference * 2654435761) & 0xFFFFFFFF


@kernel
def find_nearest_items(rows, count, item_offsets, item_users, user_offsets, user_items, eligible, measure):
    """Return the `count` nearest eligible items of some rows, best first, -1 where there are fewer, and common users.

    Two items with n_i, n_j and c common users of U have the cosine c / sqrt(n_i n_j), or the pointwise mutual
    information log2(c U / (n_i n_j)). Pairs with c = 0 do not count.

    Ties are broken by a pseudo-random order that differs between rows, so that no item wins all of them.
    """
    size = item_offsets.shape[0] - 1
    total_users = user_offsets.shape[0] - 1
    nearest = np.full((rows.shape[0], count), -1, np.int64)
    shared = np.zeros((rows.shape[0], count))
    scores = np.empty(count)
    common = np.zeros(size)
    touched = np.empty(size, np.int64)
    for place in range(rows.shape[0]):
        item = rows[place]
        num_touched = 0
        for entry in range(item_offsets[item], item_offsets[item + 1]):
            user = item_users[entry]
            for other_entry in range(user_offsets[user], user_offsets[user + 1]):
                other = user_items[other_entry]
                if not eligible[other] or other == item:
                    continue
                if common[other] == 0:
                    touched[num_touched] = other
                    num_touched += 1
                common[other] += 1
        found = 0
        for number in range(num_touched):
            other = touched[number]
            c = common[other]
            common[other] = 0
            # a division of integers first, so that equal similarities are equal to the last bit
            num_users = float(item_offsets[item + 1] - item_offsets[item])
            product = num_users * (item_offsets[other + 1] - item_offsets[other])
            score = np.sqrt(c * c / product) if measure == COSINE else np.log2(c * total_users / product)
            spot = found
            while spot > 0 and (
                score > scores[spot - 1]
                or (score == scores[spot - 1] and _scramble(other - item) < _scramble(nearest[place, spot - 1] - item))
            ):
                spot -= 1
            if spot >= count:
                continue
            found = min(found + 1, count)
            for shifted in range(found - 1, spot, -1):
                scores[shifted] = scores[shifted - 1]
                nearest[place, shifted] = nearest[place, shifted - 1]
                shared[place, shifted] = shared[place, shifted - 1]
            scores[spot] = score
            nearest[place, spot] = other
            shared[place, spot] = c
    return nearest, shared
