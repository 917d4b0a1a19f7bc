"""Most similar items of each item, from a product of sparse matrices that is never stored.

Row i of the product counts what item i shares with every other item: it is the sum of the rows of the right matrix that
row i of the left matrix points to. Memory is a few arrays with one entry per item.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel

COSINE = 0
PMI = 1


@kernel
def find_nearest_items(
    rows,
    counts,
    left_offsets,
    left_columns,
    left_values,
    right_offsets,
    right_columns,
    num_users,
    total_users,
    eligible,
    measure,
    shrinkage,
):
    """Return the nearest eligible items of some rows, best first; -1 where there are fewer.

    Ties go to the items that follow next in the cyclic order of positions, so that no item gets all of them.

    `counts` has the number of nearest items of each row, and `num_users` the number of users of every item. A pair with
    the entry c in the product has the cosine c / sqrt(n_i n_j) or the pointwise mutual information log2(c U / (n_i
    n_j)); positive values are multiplied by c / (c + shrinkage). Pairs with c = 0 do not count.
    """
    size = num_users.shape[0]
    most = 0
    for place in range(rows.shape[0]):
        most = max(most, counts[place])
    nearest = np.full((rows.shape[0], most), -1, np.int64)
    scores = np.empty(most)
    common = np.zeros(size)
    touched = np.empty(size, np.int64)
    for place in range(rows.shape[0]):
        item = rows[place]
        num_touched = 0
        for entry in range(left_offsets[item], left_offsets[item + 1]):
            value = left_values[entry]
            middle = left_columns[entry]
            for other_entry in range(right_offsets[middle], right_offsets[middle + 1]):
                other = right_columns[other_entry]
                if not eligible[other] or other == item:
                    continue
                if common[other] == 0:
                    touched[num_touched] = other
                    num_touched += 1
                common[other] += value
        found = 0
        for number in range(num_touched):
            other = touched[number]
            c = common[other]
            common[other] = 0
            # a division of integers first, so that equal similarities are equal to the last bit
            product = float(num_users[item]) * num_users[other]
            score = np.sqrt(c * c / product) if measure == COSINE else np.log2(c * total_users / product)
            if score > 0:
                score *= c / (c + shrinkage)
            spot = found
            while spot > 0 and (
                score > scores[spot - 1]
                or (score == scores[spot - 1] and (other - item) % size < (nearest[place, spot - 1] - item) % size)
            ):
                spot -= 1
            if spot >= counts[place]:
                continue
            found = min(found + 1, counts[place])
            for shifted in range(found - 1, spot, -1):
                scores[shifted] = scores[shifted - 1]
                nearest[place, shifted] = nearest[place, shifted - 1]
            scores[spot] = score
            nearest[place, spot] = other
    return nearest
