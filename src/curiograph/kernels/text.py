"""Edge lists as bytes: check a text, split its lines, number its names, read its weights; and hashes of names.

Positions are offsets into the bytes. A fault is reported as a code and the position where it was found; the caller
turns the position into a line number and the code into a sentence.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from curiograph.kernels.jit import kernel

Bytes = NDArray[np.uint8]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
Hashes = NDArray[np.uint64]


NO_FAULT = 0
BINARY = 1
NOT_UTF8 = 2
LONG_LINE = 3
FEW_FIELDS = 4
MANY_FIELDS = 5
EMPTY_NAME = 6
BAD_WEIGHT = 7
MIXED = 8
MORE_NAMES = 9
MORE_TEXT = 10

POSITION, EDGES, NAMES, LONG_WEIGHTS, WEIGHTED, COMMENT = range(6)
"""What the state of a parser holds: where it is, how much it has found, and whether lines have weights."""

WHITESPACE = 0
"""The delimiter that stands for any run of blanks."""

BLOCK = 1024
"""How many names are looked up together."""

_NEWLINE = 10
_HASH = 35
_MINUS = 45

HALF = np.uint64(32)
LOWER = np.uint64(0xFFFFFFFF)

_EXACT_POWERS = 10.0 ** np.arange(23)  # every one of these is exact in double precision
_MOST_EXACT = 2**53


@kernel
def is_blank(byte: int) -> bool:
    """Whether a byte is a blank of ASCII: what `bytes.strip` strips."""
    return byte == 32 or 9 <= byte <= 13


@kernel
def get_character_length(data: Bytes, i: int) -> int:
    """Bytes of the UTF-8 character that starts at `i` with a byte above 127, or 0 where it is malformed."""
    first = data[i]
    low, high = 0x80, 0xBF
    if 0xC2 <= first <= 0xDF:
        length = 2
    elif 0xE0 <= first <= 0xEF:
        length = 3
        if first == 0xE0:
            low = 0xA0
        elif first == 0xED:
            high = 0x9F  # surrogates
    elif 0xF0 <= first <= 0xF4:
        length = 4
        if first == 0xF0:
            low = 0x90
        elif first == 0xF4:
            high = 0x8F  # above U+10FFFF
    else:
        return 0
    if i + length > data.shape[0] or data[i + 1] < low or data[i + 1] > high:
        return 0
    for k in range(i + 2, i + length):
        if data[k] < 0x80 or data[k] > 0xBF:
            return 0
    return length


@kernel
def scan_text(data: Bytes, start: int, longest: int) -> tuple[int, bool, int, int]:
    """Number of lines, whether there is a double quote, and the first fault that makes this no text, with its place."""
    lines = 1
    quoted = False
    line = start
    i = start
    size = data.shape[0]
    while i < size:
        byte = data[i]
        if byte == _NEWLINE:
            lines += 1
            line = i + 1
            i += 1
        elif byte < 0x80:
            if byte == 0:
                return lines, quoted, BINARY, i
            if byte == 34:
                quoted = True
            i += 1
        else:
            length = get_character_length(data, i)
            if length == 0:
                return lines, quoted, NOT_UTF8, i
            i += length
        if i - line > longest:
            return lines, quoted, LONG_LINE, line
    return lines, quoted, NO_FAULT, size


@kernel
def split_fields(data: Bytes, begin: int, end: int, delimiter: int, spans: Int64) -> int:
    """Put the spans of up to three fields, without surrounding blanks, into `spans`; return their number, at most 4."""
    count = 0
    i = begin
    while count < 4:
        if delimiter == WHITESPACE:
            while i < end and is_blank(data[i]):
                i += 1
            if i == end:
                return count
        stop = i
        while stop < end and (not is_blank(data[stop]) if delimiter == WHITESPACE else data[stop] != delimiter):
            stop += 1
        first, last = i, stop
        while first < last and is_blank(data[first]):
            first += 1
        while last > first and is_blank(data[last - 1]):
            last -= 1
        if count < 3:
            spans[2 * count] = first
            spans[2 * count + 1] = last
        count += 1
        if stop == end:
            return count
        i = stop + 1
    return count


@kernel
def parse_number(data: Bytes, begin: int, end: int) -> tuple[float, int]:
    """A weight and 0; or 1 where it is well formed but too long to be read exactly here; or 2 where it is no weight.

    Up to 2^53 times a power of ten up to 22 is one correctly rounded operation; the rest is left to the caller.
    """
    i = begin
    negative = False
    if i < end and (data[i] == 43 or data[i] == _MINUS):
        negative = data[i] == _MINUS
        i += 1
    mantissa = np.int64(0)
    digits = 0
    scale = np.int64(0)
    exact = True
    point = False
    while i < end and (48 <= data[i] <= 57 or (data[i] == 46 and not point)):
        if data[i] == 46:
            point = True
        else:
            digits += 1
            if mantissa < _MOST_EXACT // 10:
                mantissa = mantissa * 10 + (np.int64(data[i]) - 48)
                scale -= point
            else:
                exact = False
        i += 1
    if digits == 0:
        return 0.0, 2
    if i < end and (data[i] == 101 or data[i] == 69):
        i += 1
        sign = 1
        if i < end and (data[i] == 43 or data[i] == _MINUS):
            sign = -1 if data[i] == _MINUS else 1
            i += 1
        power = np.int64(0)
        first = i
        while i < end and 48 <= data[i] <= 57:
            if power < 100_000:  # enough to be infinite or zero
                power = power * 10 + (np.int64(data[i]) - 48)
            i += 1
        if i == first:
            return 0.0, 2
        scale += np.int64(sign) * power
    if i != end or (negative and mantissa > 0):
        return 0.0, 2
    if mantissa == 0 and exact:
        return 0.0, 0
    if not exact or scale < -22 or scale > 22:
        return 0.0, 1
    if scale < 0:
        return mantissa / _EXACT_POWERS[-scale], 0
    return mantissa * _EXACT_POWERS[scale], 0


@kernel
def hash_name(data: Bytes, begin: int, end: int) -> np.uint64:
    """64 bits from the bytes of a name (FNV-1a, folded)."""
    key = np.uint64(0xCBF29CE484222325)
    for i in range(begin, end):
        key = (key ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    return key ^ (key >> HALF)  # the upper bits are the better mixed ones


@kernel
def hash_names(blob: Bytes, offsets: Int64) -> Hashes:
    """The hash of every name of a blob."""
    out = np.empty(offsets.shape[0] - 1, np.uint64)
    for k in range(out.shape[0]):
        out[k] = hash_name(blob, offsets[k], offsets[k + 1])
    return out


@kernel
def find_slot(
    data: Bytes, begin: int, end: int, key: np.uint64, table: Hashes, blob: Bytes, offsets: Int64
) -> np.uint64:
    """The slot of an open-addressing table where the name is, or the empty slot where it belongs.

    A slot holds the upper half of the hash and, below, the number of the name plus one, so that most misses cost one
    access to memory and a hit two more.
    """
    mask = np.uint64(table.shape[0] - 1)
    slot = key & mask
    while table[slot] != 0:
        if (table[slot] ^ key) <= LOWER:
            known = np.int64(table[slot] & LOWER) - 1
            first = offsets[known]
            if offsets[known + 1] - first == end - begin:
                i = 0
                while i < end - begin and data[begin + i] == blob[first + i]:
                    i += 1
                if i == end - begin:
                    break
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def make_entry(key: np.uint64, name: int) -> np.uint64:
    """What a slot holds for a name."""
    return (key & ~LOWER) | np.uint64(name + 1)


@kernel
def build_table(hashes: Hashes, count: int, size: int) -> Hashes:
    """A table of `size` slots that holds the first `count` names."""
    table = np.empty(size, np.uint64)
    for i in range(size):
        table[i] = 0
    mask = np.uint64(size - 1)
    for k in range(count):
        slot = hashes[k] & mask
        while table[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = make_entry(hashes[k], k)
    return table


@kernel
def find_names(
    data: Bytes, spans: Int64, keys: Hashes, count: int, table: Hashes, blob: Bytes, offsets: Int64, known: Int64
) -> None:
    """Numbers of those of `count` names that are in the table, -1 for the others (and, rarely, for one that is).

    One loop for each access to memory: accesses within a loop do not wait for each other, while those for one name do,
    and with a million names waiting for memory is most of the work.
    """
    mask = np.uint64(table.shape[0] - 1)
    for k in range(count):
        slot = keys[k] & mask
        while table[slot] != 0 and (table[slot] ^ keys[k]) > LOWER:
            slot = (slot + np.uint64(1)) & mask
        known[k] = np.int64(table[slot] & LOWER) - 1
    for k in range(count):
        if known[k] >= 0 and offsets[known[k] + 1] - offsets[known[k]] != spans[k, 1] - spans[k, 0]:
            known[k] = -1
    for k in range(count):
        if known[k] >= 0:
            first = offsets[known[k]]
            for i in range(spans[k, 1] - spans[k, 0]):
                if blob[first + i] != data[spans[k, 0] + i]:
                    known[k] = -1
                    break


@kernel
def split_lines(
    data: Bytes, delimiter: int, state: Int64, spans: Int64, keys: Hashes, weights: Float64, long: Int64
) -> int:
    """Split lines until `spans` and `keys`, which get two names a line, are full; return the fault of the last line."""
    fields = np.empty(6, np.int64)
    size = data.shape[0]
    place, edges = state[POSITION], state[EDGES]
    row = 0
    fault = NO_FAULT
    while place < size and 2 * row < keys.shape[0]:
        end = place
        while end < size and data[end] != _NEWLINE:
            end += 1
        begin = place
        while begin < end and is_blank(data[begin]):
            begin += 1
        if begin == end or data[begin] == _HASH:
            close = begin + 1 < end and not is_blank(data[begin + 1]) and data[begin + 1] != _HASH
            if close and state[COMMENT] < 0 and split_fields(data, place, end, delimiter, fields) in (2, 3):
                state[COMMENT] = place  # a comment that may have been meant as an edge
            place = end + 1
            continue
        count = split_fields(data, place, end, delimiter, fields)
        if edges == 0:
            state[WEIGHTED] = count == 3
        if count < 2:
            fault = FEW_FIELDS
        elif count > 3:
            fault = MANY_FIELDS
        elif fields[0] == fields[1] or fields[2] == fields[3]:
            fault = EMPTY_NAME
        elif state[WEIGHTED] != (count == 3):
            fault = MIXED
        elif count == 3:
            weights[edges], outcome = parse_number(data, fields[4], fields[5])
            if outcome == 2:
                fault = BAD_WEIGHT
            elif outcome == 1:
                long[0, state[LONG_WEIGHTS]] = edges
                long[1, state[LONG_WEIGHTS]] = fields[4]
                long[2, state[LONG_WEIGHTS]] = fields[5]
                state[LONG_WEIGHTS] += 1
        if fault != NO_FAULT:
            break
        for side in range(2):
            spans[2 * row + side, 0] = fields[2 * side]
            spans[2 * row + side, 1] = fields[2 * side + 1]
            keys[2 * row + side] = hash_name(data, fields[2 * side], fields[2 * side + 1])
        edges += 1
        row += 1
        place = end + 1
    state[POSITION] = place
    state[EDGES] = edges
    return fault


@kernel
def parse_edges(
    data: Bytes,
    delimiter: int,
    state: Int64,
    ends: Int32,
    weights: Float64,
    long: Int64,
    blob: Bytes,
    offsets: Int64,
    hashes: Hashes,
    table: Hashes,
) -> int:
    """Fill in the edges of a text that `scan_text` found sound; `ends`, `weights` and `long` have room for all lines.

    `ends` gets source and target as numbers of names in order of appearance, `long` the rows, starts and ends of the
    weights that are left to the caller, `blob`, `offsets` and `hashes` the names. Returns NO_FAULT at the end of the
    text; a fault of the line at the place that `state` holds; or MORE_NAMES or MORE_TEXT where the caller has to make
    room, with a table to match, and to call again.
    """
    spans = np.empty((BLOCK, 2), np.int64)
    keys = np.empty(BLOCK, np.uint64)
    known = np.empty(BLOCK, np.int64)
    while state[POSITION] < data.shape[0]:
        names = state[NAMES]
        if names + BLOCK > hashes.shape[0]:
            return MORE_NAMES
        place, edges, longs = state[POSITION], state[EDGES], state[LONG_WEIGHTS]
        fault: int = split_lines(data, delimiter, state, spans, keys, weights, long)
        if fault != NO_FAULT:
            return fault
        count = 2 * (state[EDGES] - edges)
        used = offsets[names]
        room = blob.shape[0] - used
        for k in range(count):
            room -= spans[k, 1] - spans[k, 0]
        if room < 0:
            state[POSITION], state[EDGES], state[LONG_WEIGHTS] = place, edges, longs
            return MORE_TEXT
        find_names(data, spans, keys, count, table, blob, offsets, known)
        for k in range(count):
            if known[k] < 0:
                first, last = spans[k, 0], spans[k, 1]
                slot = find_slot(data, first, last, keys[k], table, blob, offsets)
                known[k] = np.int64(table[slot] & LOWER) - 1
                if known[k] < 0:
                    known[k] = names
                    table[slot] = make_entry(keys[k], names)
                    hashes[names] = keys[k]
                    for i in range(first, last):
                        blob[used] = data[i]
                        used += 1
                    names += 1
                    offsets[names] = used
            ends[edges + k // 2, k % 2] = known[k]
        state[NAMES] = names
    return NO_FAULT


@kernel
def parse_integers(blob: Bytes, offsets: Int64) -> tuple[bool, Int64]:
    """Whether every name is a whole number of 64 bits as `str` writes it, and those numbers."""
    values = np.empty(offsets.shape[0] - 1, np.int64)
    for k in range(values.shape[0]):
        i, end = offsets[k], offsets[k + 1]
        negative = i < end and blob[i] == _MINUS
        if negative:
            i += 1
        if i == end or end - i > 19 or (blob[i] == 48 and (end - i > 1 or negative)):
            return False, values
        value = np.int64(0)  # kept below zero, where one more number fits
        for j in range(i, end):
            digit = np.int64(blob[j]) - 48
            if digit < 0 or digit > 9 or value < -922337203685477580:
                return False, values
            value *= 10
            if value < -9223372036854775807 - 1 + digit:
                return False, values
            value -= digit
        if not negative and value == -9223372036854775807 - 1:
            return False, values
        values[k] = value if negative else -value
    return True, values
