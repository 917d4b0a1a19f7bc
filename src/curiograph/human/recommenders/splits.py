"""Splits of a log into training events and the items to recommend to test users."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int32, Int64
from curiograph.errors import SettingError, WalkError
from curiograph.graph.labels import as_labels
from curiograph.human.data.incidence import build_incidence
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.validation import check_choice, check_integer, check_seed, is_number

SplitKind = Literal["time", "user", "last"]
"""How a log is split into training and test events."""
DEFAULT_TEST = 0.2
"""Share of the events (time split) or users (user split) to test on."""
HELD_OUT_ITEMS = 0.2
"""Share of the distinct items of a test user that are test items, for the user split."""


@dataclass(frozen=True, eq=False)
class Split:
    """Training events, and the histories and held-out items of test users."""

    kind: SplitKind
    """How the log was split."""
    train: Trajectories
    """Training events over the catalog, which is `train.names`: all items with enough training users."""
    users: Int64
    """Numbers of the test users."""
    histories: list[Int32]
    """Distinct items of each test user before the cut, the last visit at the end."""
    targets: list[Int32]
    """Distinct items that each test user visited after the cut and not before, in order."""
    facts: dict[str, Any]
    """Sizes of the split, and what was left out."""
    test: float | None
    """Share of the events ("time") or users ("user") to test on; None for "last"."""

    @property
    def num_items(self) -> int:
        """Number of items of the catalog."""
        return len(self.train.names)


def split_log(
    walks: Trajectories,
    kind: SplitKind = "time",
    *,
    test: float | None = None,
    item_users: int = 5,
    max_users: int | None = None,
    seed: int = 0,
) -> Split:
    """Split a log into training events and test users.

    Parameters
    ----------
    walks : Trajectories
        Events of users. The walks of a user are joined, in order of the times if there are times, and else in the order
        given.
    kind : {"time", "user", "last"}
        "time": all events after one point in time are test events, and nothing after it is used for training. "user":
        all events of some users are held out; the last fifth of the distinct items of each are the test items, the
        events before are the history. "last": the last new item of every user is the test item, and all events before
        it are training events.
    test : float, optional
        Share of the events ("time") or of the users ("user") to test on. Default: 0.2. Not for "last".
    item_users : int
        Minimum number of training users of an item of the catalog.
    max_users : int, optional
        Maximum number of test users, drawn at random; the training events stay the same.
    seed : int
        Seed of the test users.

    Returns
    -------
    Split
        Users without an item of the catalog before the cut, or without a new one after it, are not test users.

    Examples
    --------
    >>> walks = Trajectories.from_walks([["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"]])
    >>> split = split_log(walks, "last", item_users=1)
    >>> split.train, [target.tolist() for target in split.targets]
    (Trajectories(3 walks by 3 users, 6 visits of 3 nodes), [[2], [1], [2]])
    """
    check_choice("split", kind, get_args(SplitKind))
    if kind == "last" and test is not None:
        raise SettingError(
            f"test is {quote_value(test)}, but the last split tests on the last new item of every user; leave it out, "
            "or split by time or user."
        )
    share = DEFAULT_TEST if test is None else test
    if not is_number(share) or not 0 < share < 1:
        raise SettingError(f"test is {quote_value(test)}; give the share to test on, between 0 and 1.")
    check_integer("item_users", item_users, 1, "give the minimum number of users of an item, 1 or more")
    if max_users is not None:
        check_integer("max_users", max_users, 2, "give the maximum number of test users, 2 or more")
    walks = walks[np.argsort(walks.users, kind="stable")]
    owner = np.repeat(walks.users, walks.lengths)
    # sessions of a user may overlap in time
    order = np.arange(len(owner)) if walks.times is None else np.lexsort((walks.times, owner))
    nodes, tested = walks.nodes[order], np.unique(owner)
    facts: dict[str, Any] = {}
    if kind == "time":
        before = _split_time(walks, share, facts)[order]
    else:
        before = _split_sequences(nodes, owner, None if kind == "last" else HELD_OUT_ITEMS)
    in_train = np.empty(len(owner), bool)
    in_train[order] = before
    if kind == "user":
        train_walks, test_walks = walks.split(share, seed)
        tested = np.unique(test_walks.users)
        in_train = np.isin(owner, np.unique(train_walks.users))
    train = walks.select_visits(in_train)
    train = train[train.lengths > 0]
    num_users = np.asarray(build_incidence(train, train.users).sum(axis=0)).ravel()
    kept = num_users >= item_users
    if not kept.any():
        raise WalkError(
            f"no item has {item_users} training users or more; give a smaller item_users (--item-users), or more "
            "events."
        )
    position = np.where(kept, np.cumsum(kept) - 1, -1)
    names = as_labels([walks.names[int(item)] for item in np.flatnonzero(kept)])
    users, histories, targets = [], [], []
    bounds = np.searchsorted(owner, [tested, tested + 1])
    unknown = held_out = no_history = 0
    for user, start, end in zip(tested.tolist(), *bounds, strict=True):
        items, early = position[nodes[start:end]], before[start:end]
        history = _list_last_visits(items[early])
        new = np.setdiff1d(items[~early], history)
        outside = np.setdiff1d(nodes[start:end][~early & (items < 0)], nodes[start:end][early])
        held_out += len(outside) + int(np.count_nonzero(new >= 0))
        unknown += len(outside)
        target = items[~early][np.sort(np.unique(items[~early], return_index=True)[1])]
        target = target[np.isin(target, new) & (target >= 0)]
        no_history += int(len(target) > 0 and len(history) == 0)
        if len(history) and len(target):
            users.append(user)
            histories.append(history)
            targets.append(target.astype(np.int32))
    if len(users) < 2:
        raise WalkError(
            f"the {kind} split leaves {len(users)} users with items of the catalog both before and after the cut; give "
            "another split, a smaller item_users (--item-users), or more events."
        )
    chosen = np.arange(len(users))
    if max_users is not None and max_users < len(users):
        chosen = np.sort(np.random.default_rng([check_seed(seed), 1]).permutation(len(users))[:max_users])
    facts |= {
        "items": len(names),
        "items_in_log": len(np.unique(walks.nodes)),
        "training_events": len(train.nodes),
        "training_users": train.num_users,
        "eligible_users": len(users),
        "test_users": len(chosen),
        "users_without_history": no_history,
        "share_of_test_items_outside_catalog": round(unknown / max(held_out, 1), 4),
        "test_items_per_user": round(float(np.mean([len(targets[i]) for i in chosen])), 2),
        "history_items_per_user": round(float(np.mean([len(histories[i]) for i in chosen])), 2),
    }
    return Split(
        kind=kind,
        train=train.renumber(position, names),
        users=np.asarray(users)[chosen],
        histories=[histories[i] for i in chosen],
        targets=[targets[i] for i in chosen],
        facts=facts,
        test=None if kind == "last" else share,
    )


def _split_time(walks: Trajectories, test: float, facts: dict[str, Any]) -> NDArray[np.bool_]:
    """Return which visits are at or before the point in time after which a share `test` of all visits happen."""
    if walks.times is None:
        raise WalkError(
            "a time split needs the time of every event, and the log has none; name its time column (time=, --time), "
            "or split by user or last."
        )
    times = np.sort(walks.times)
    cut = float(times[max(0, math.ceil((1 - test) * len(times)) - 1)])
    facts["cut"] = cut
    before: NDArray[np.bool_] = walks.times <= cut
    return before


def _split_sequences(nodes: Int32, owner: Int64, held_out: float | None) -> NDArray[np.bool_]:
    """Return which visits come before the first of the last new items of their user.

    Visits are in order of users and then of time. `held_out` is the share of the distinct items of a user to hold out;
    None holds out a single item.
    """
    before = np.zeros(len(owner), bool)
    for start, end in zip(*np.searchsorted(owner, [np.unique(owner), np.unique(owner) + 1]), strict=True):
        first_visits = np.sort(np.unique(nodes[start:end], return_index=True)[1])
        count = 1 if held_out is None else max(1, round(held_out * len(first_visits)))
        before[start : start + first_visits[-count]] = True
    return before


def _list_last_visits(items: Int64) -> Int32:
    """Return the distinct known items, in order of their last visit."""
    reversed_items = items[items >= 0][::-1]
    last = np.sort(np.unique(reversed_items, return_index=True)[1])
    return np.asarray(reversed_items[last][::-1], np.int32)
