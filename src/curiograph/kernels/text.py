"""Parse edge lists given as bytes: split lines, number names in order of appearance, read weights; and hash names.

The text is known to be UTF-8 without NUL bytes and without lines longer than 1 MiB. A malformed line is reported by its
position; the caller looks at the line again to describe what is wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32, Int64
from curiograph.kernels.jit import inner_kernel, kernel

Bytes = NDArray[np.uint8]
Hashes = NDArray[np.uint64]

WHITESPACE = 0
"""Delimiter code for any run of whitespace."""

_BLOCK = 512  # lines whose names are looked up together
_NEWLINE, _HASH, _MINUS, _DOT = 10, 35, 45, 46
_LOWER_HALF = np.uint64(0xFFFFFFFF)
_EXACT_POWERS = 10.0 ** np.arange(23)  # these powers of ten are exact in double precision
_MAX_EXACT = 2**53


@inner_kernel
def is_blank(byte: int) -> bool:
    """Return whether a byte is ASCII whitespace, as `bytes.strip` defines it."""
    return byte == 32 or 9 <= byte <= 13


@kernel
def split_fields(data: Bytes, begin: int, end: int, delimiter: int, fields: Int64) -> int:
    """Write the (begin, end) of up to three stripped fields of a line to `fields`; return their number, at most 4."""
    count = 0
    while count < 4:
        while begin < end and is_blank(data[begin]) and data[begin] != delimiter:
            begin += 1
        if delimiter == WHITESPACE and begin == end:
            break
        stop = begin
        while stop < end and (not is_blank(data[stop]) if delimiter == WHITESPACE else data[stop] != delimiter):
            stop += 1
        last = stop
        while last > begin and is_blank(data[last - 1]):
            last -= 1
        if count < 3:
            fields[2 * count], fields[2 * count + 1] = begin, last
        count += 1
        if stop == end:
            break
        begin = stop + 1
    return count


@kernel
def parse_number(data: Bytes, begin: int, end: int) -> Any:
    """Return a weight; NaN if it is well formed but needs more precision than available here; -1 if it is not valid.

    A mantissa up to 2^53 times or divided by a power of ten up to 22 is one correctly rounded operation.
    """
    negative = begin < end and data[begin] == _MINUS
    i = begin + (begin < end and (negative or data[begin] == 43))
    mantissa, scale, digits = np.int64(0), np.int64(0), 0
    exact, fraction = True, False
    while i < end and (48 <= data[i] <= 57 or (data[i] == _DOT and not fraction)):
        if data[i] == _DOT:
            fraction = True
        else:
            digits += 1
            if mantissa < _MAX_EXACT // 10:
                mantissa = mantissa * 10 + (np.int64(data[i]) - 48)
                scale -= fraction
            else:
                exact = False
        i += 1
    if digits == 0:
        return -1.0
    if i < end and (data[i] == 101 or data[i] == 69):
        i += 1
        sign = -1 if i < end and data[i] == _MINUS else 1
        i += i < end and (data[i] == 43 or data[i] == _MINUS)
        power, first = np.int64(0), i
        while i < end and 48 <= data[i] <= 57:
            if power < 100_000:  # beyond this the value is infinite or zero
                power = power * 10 + (np.int64(data[i]) - 48)
            i += 1
        if i == first:
            return -1.0
        scale += sign * power
    if i != end or (negative and mantissa > 0):
        return -1.0
    if mantissa == 0 and exact:
        return 0.0
    if not exact or scale < -22 or scale > 22:
        return np.nan
    return mantissa / _EXACT_POWERS[-scale] if scale < 0 else mantissa * _EXACT_POWERS[scale]


@kernel
def hash_name(data: Bytes, begin: int, end: int) -> np.uint64:
    """Return a 64-bit hash of the bytes of a name (FNV-1a, folded)."""
    key = np.uint64(0xCBF29CE484222325)
    for i in range(begin, end):
        key = (key ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    return key ^ (key >> np.uint64(32))  # the upper bits are the better mixed ones


@kernel
def hash_names(blob: Bytes, offsets: Int64) -> Hashes:
    """Return the hash of every name of a blob."""
    out = np.empty(offsets.shape[0] - 1, np.uint64)
    for k in range(out.shape[0]):
        out[k] = hash_name(blob, offsets[k], offsets[k + 1])
    return out


@inner_kernel
def find_slot(
    data: Bytes, begin: int, end: int, key: np.uint64, table: Hashes, blob: Bytes, offsets: Int64
) -> np.uint64:
    """Return the slot of a name in an open-addressing hash table, or the empty slot where it belongs.

    A slot contains the upper half of the hash and, in the lower half, the number of the name plus one, so that most
    misses need one memory access and a hit two more.
    """
    mask = np.uint64(table.shape[0] - 1)
    slot = key & mask
    while table[slot] != 0:
        if (table[slot] ^ key) <= _LOWER_HALF:
            known = np.int64(table[slot] & _LOWER_HALF) - 1
            first = offsets[known]
            if offsets[known + 1] - first == end - begin:
                i = 0
                while i < end - begin and data[begin + i] == blob[first + i]:
                    i += 1
                if i == end - begin:
                    break
        slot = (slot + np.uint64(1)) & mask
    return slot


@inner_kernel
def prefetch_names(keys: Hashes, count: int, table: Hashes, blob: Bytes, offsets: Int64, scratch: Int64) -> None:
    """Load the memory that `find_slot` needs for `count` names into the cache.

    One loop per memory access: the accesses of one loop overlap, while those of one name depend on each other, and with
    a million names most of the time is spent waiting for memory. Writing to `scratch` keeps the compiler from removing
    the loads.
    """
    mask = np.uint64(table.shape[0] - 1)
    for k in range(count):
        scratch[k] = np.int64(table[keys[k] & mask] & _LOWER_HALF)
    for k in range(count):
        scratch[k] = offsets[max(scratch[k] - 1, 0)]
    for k in range(count):
        scratch[k] = blob[scratch[k]]


@inner_kernel
def extend(array: NDArray[Any], more: int) -> NDArray[Any]:
    """Return a copy of `array` with room for `more` entries."""
    out = np.empty(array.shape[0] + more, array.dtype)
    for i in range(array.shape[0]):
        out[i] = array[i]
    return out


@inner_kernel
def build_table(blob: Bytes, offsets: Int64, count: int, size: int) -> Hashes:
    """Return a hash table of `size` slots with the first `count` names of a blob."""
    table = np.zeros(size, np.uint64)
    mask = np.uint64(size - 1)
    for k in range(count):
        key = hash_name(blob, offsets[k], offsets[k + 1])
        slot = key & mask
        while table[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = (key & ~_LOWER_HALF) | np.uint64(k + 1)
    return table


@kernel
def parse_edges(
    data: Bytes, position: int, lines: int, delimiter: int
) -> tuple[int, int, bool, Int32, Float64, Int64, Bytes, Int64]:
    """Parse the edges from `position` to the end of a text of at most `lines` lines.

    Returns
    -------
    bad_line : position of the first malformed line, where parsing stops; -1 if there is none.
    comment : position of the first comment that has the form of an edge (`#a b`); -1 if there is none.
    weighted : whether lines have a weight.
    ends : numbers of the names of source and target of every edge, in order of first appearance.
    weights : weight of every edge, NaN if the caller has to read it from `spans`.
    spans : begin and end of the weights that are NaN.
    blob, offsets : the names, concatenated, and the position of each.
    """
    size = data.shape[0]
    ends, weights, spans = np.empty((lines, 2), np.int32), np.empty(lines), np.empty((lines, 2), np.int64)
    blob, offsets, table = np.empty(2**16, np.uint8), np.zeros(2**12, np.int64), np.zeros(2**14, np.uint64)
    fields, names = np.empty(6, np.int64), np.empty((2 * _BLOCK, 2), np.int64)
    keys, scratch = np.empty(2 * _BLOCK, np.uint64), np.empty(2 * _BLOCK, np.int64)
    edges, known, bad_line, comment, weighted = 0, 0, -1, -1, False
    while position < size and bad_line < 0:
        first_edge, text = edges, 0
        while position < size and edges < first_edge + _BLOCK:
            end = position
            while end < size and data[end] != _NEWLINE:
                end += 1
            begin = position
            while begin < end and is_blank(data[begin]):
                begin += 1
            if begin == end or data[begin] == _HASH:
                tag = begin + 1 < end and not is_blank(data[begin + 1]) and data[begin + 1] != _HASH
                if tag and comment < 0 and split_fields(data, position, end, delimiter, fields) in (2, 3):
                    comment = position
                position = end + 1
                continue
            count = split_fields(data, position, end, delimiter, fields)
            if edges == 0:
                weighted = count == 3
            sound = count in (2, 3) and weighted == (count == 3)
            sound = sound and fields[0] < fields[1] and fields[2] < fields[3]
            if sound and weighted:
                weights[edges] = parse_number(data, fields[4], fields[5])
                sound = not weights[edges] < 0
                if np.isnan(weights[edges]):
                    spans[edges, 0], spans[edges, 1] = fields[4], fields[5]
            if not sound:
                bad_line = position
                break
            for side in range(2):
                k = 2 * (edges - first_edge) + side
                names[k, 0], names[k, 1] = fields[2 * side], fields[2 * side + 1]
                keys[k] = hash_name(data, names[k, 0], names[k, 1])
                text += names[k, 1] - names[k, 0]
            edges += 1
            position = end + 1
        count = 2 * (edges - first_edge)
        if known + count >= offsets.shape[0]:
            offsets = extend(offsets, offsets.shape[0])
            table = build_table(blob, offsets, known, 4 * offsets.shape[0])
        if offsets[known] + text > blob.shape[0]:
            blob = extend(blob, blob.shape[0] + text)
        prefetch_names(keys, count, table, blob, offsets, scratch)
        for k in range(count):
            begin, end = names[k, 0], names[k, 1]
            slot = find_slot(data, begin, end, keys[k], table, blob, offsets)
            if table[slot] == 0:
                used = offsets[known]
                for i in range(begin, end):
                    blob[used + i - begin] = data[i]
                known += 1
                offsets[known] = used + end - begin
                table[slot] = (keys[k] & ~_LOWER_HALF) | np.uint64(known)
            ends[first_edge + k // 2, k % 2] = np.int64(table[slot] & _LOWER_HALF) - 1
    return (
        bad_line,
        comment,
        weighted,
        ends[:edges],
        weights[:edges],
        spans[:edges],
        blob[: offsets[known]].copy(),
        offsets[: known + 1].copy(),
    )


@kernel
def parse_integers(blob: Bytes, offsets: Int64) -> tuple[bool, Int64]:
    """Return whether every name is a 64-bit integer as `str` formats it, and the integers."""
    values = np.empty(offsets.shape[0] - 1, np.int64)
    for k in range(values.shape[0]):
        i, end = offsets[k], offsets[k + 1]
        negative = i < end and blob[i] == _MINUS
        i += negative
        if i == end or end - i > 19 or (blob[i] == 48 and (end - i > 1 or negative)):
            return False, values
        value = np.uint64(0)  # 19 digits fit
        for j in range(i, end):
            digit = np.uint64(blob[j]) - np.uint64(48)  # wraps around below '0'
            if digit > np.uint64(9):
                return False, values
            value = value * np.uint64(10) + digit
        if value > np.uint64(2**63 - 1) + np.uint64(negative):
            return False, values
        values[k] = -np.int64(value) if negative else np.int64(value)
    return True, values
