"""Agents as files: round trips are bit-identical, and malformed files are rejected."""

from __future__ import annotations

import json
import os
import pickle
import struct
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from safetensors.numpy import save

import curiograph as cg
from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.agents.horizon import HorizonAgent, HorizonShape
from curiograph.agents.planner import PlannerAgent, PlannerShape
from curiograph.agents.pretrained import AGENT_FILE, load_agent, save_agent, shipped_agents
from curiograph.agents.registry import as_agent
from oracles import reference

CARD = {"reward": "igt", "command": "curiograph train", "licence": "MIT", "note": "Neugier, 好奇心"}


def gnn() -> GnnAgent:
    shape = GnnShape(inner_degree=True, width=4)
    return GnnAgent(shape, reference.draw_weights(shape.weights(), 0), "small-gnn")


def horizon() -> HorizonAgent:
    shape = HorizonShape(width=4, layers=2)
    return HorizonAgent(shape, reference.draw_weights(shape.weights(), 1), "small-horizon")


def planner() -> PlannerAgent:
    shape = PlannerShape(fan=8)
    return PlannerAgent(shape, reference.draw_weights(shape.weights(), 2), "small-planner")


ALL = pytest.mark.parametrize("agent", [gnn(), horizon(), planner()], ids=["gnn", "horizon", "planner"])


def split_file(file: Path) -> tuple[dict, bytes]:
    """Header and numbers of a safetensors file."""
    data = file.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def join_file(header: object, numbers: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + numbers


def save_file(agent: GnnAgent | HorizonAgent, file: Path) -> Path:
    save_agent(agent, file, CARD)
    return file


def write_file(agent: GnnAgent | HorizonAgent, file: Path, card: object = None) -> Path:
    """Write a file without `save_agent`, with any card."""
    kind = agent.name.removeprefix("small-")
    given = {"format": 1, "kind": kind, "shape": vars(agent.shape), "name": agent.name} if card is None else card
    file.write_bytes(save(dict(agent.network), metadata={"curiograph": json.dumps(given)}))
    return file


def read_error(file: Path, error: type[Exception] = cg.FileFormatError) -> str:
    """Return the error message for a malformed file, which must be one short line with the path."""
    with pytest.raises(error) as caught:
        load_agent(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ") or error is not cg.FileFormatError
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message.replace(str(file), "")) < 300
    return message.removeprefix(f"{file}: ")


# ---- there and back -------------------------------------------------------------------------------------------------


@ALL
def test_helper_writes_the_same_arrays_as_save_agent(agent, tmp_path):
    straight = write_file(agent, tmp_path / "a.safetensors")
    save_agent(agent, tmp_path / "b.safetensors")
    assert split_file(straight)[1] == split_file(tmp_path / "b.safetensors")[1]
    assert load_agent(straight).card == load_agent(tmp_path / "b.safetensors").card


@ALL
def test_round_trip_is_bit_identical(agent, tmp_path):
    file = save_file(agent, tmp_path / "agent.safetensors")
    loaded = load_agent(file)
    assert type(loaded) is type(agent)
    assert (loaded.name, loaded.shape) == (agent.name, agent.shape)
    assert loaded.network.keys() == agent.network.keys()
    for name, array in agent.network.items():
        assert (loaded.network[name].dtype, loaded.network[name].shape) == (np.float32, array.shape)
        assert loaded.network[name].tobytes() == array.tobytes()
    batch = cg.begin([cg.toys.library()], [range(12)], "igt", 5)
    assert loaded.scores(batch).tobytes() == agent.scores(batch).tobytes()


@ALL
def test_card_is_in_the_header_and_in_a_json_file(agent, tmp_path):
    file = tmp_path / "agent.safetensors"
    returned = save_agent(agent, file, CARD)
    header, _ = split_file(file)
    inside = json.loads(header["__metadata__"]["curiograph"])
    assert inside == json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    assert inside == load_agent(file).card == returned.card
    assert inside | CARD == inside
    assert (inside["name"], inside["kind"]) == (agent.name, agent.name.removeprefix("small-"))
    file.with_suffix(".json").unlink()
    assert load_agent(file).card == inside  # the copy is for people
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [file.name]


@ALL
def test_saving_again_gives_the_same_bytes(agent, tmp_path):
    file = save_file(agent, tmp_path / "agent.safetensors")
    first = file.read_bytes()
    save_agent(load_agent(file), file)
    assert file.read_bytes() == first


@ALL
def test_load_from_file_folder_and_text(agent, tmp_path):
    file = save_file(agent, tmp_path / AGENT_FILE)
    for source in (file, str(file), tmp_path, str(tmp_path)):
        assert load_agent(source).name == as_agent(source).name == agent.name
    walk = cg.explore(cg.toys.library(), str(file), "igt", "music", 4)
    assert (walk.agent, len(walk)) == (agent.name, 4)


def test_agent_without_a_name_has_the_name_of_its_file(tmp_path):
    header, numbers = split_file(save_file(gnn(), tmp_path / "a.safetensors"))
    card = json.loads(header["__metadata__"]["curiograph"])
    del card["name"]
    header["__metadata__"]["curiograph"] = json.dumps(card)
    (tmp_path / "curious.safetensors").write_bytes(join_file(header, numbers))
    assert load_agent(tmp_path / "curious.safetensors").name == "curious"


def test_loaded_weights_are_independent_of_the_saved_agent(tmp_path):
    agent = gnn()
    file = save_file(agent, tmp_path / "agent.safetensors")
    before = load_agent(file)
    agent.network["scale"][0] = 7
    assert before.network["scale"][0] == load_agent(file).network["scale"][0] != 7


def test_weights_that_are_not_contiguous(tmp_path):
    """Transposed and strided arrays are save_file with their values."""
    agent = gnn()
    odd = {name: np.asfortranarray(array) for name, array in agent.network.items()}
    loaded = load_agent(save_file(replace(agent, network=odd), tmp_path / "agent.safetensors"))
    assert all(np.array_equal(loaded.network[name], array) for name, array in agent.network.items())


@ALL
def test_renamed_agent_is_saved_with_its_new_name(agent, tmp_path):
    loaded = load_agent(save_file(agent, tmp_path / "agent.safetensors"))
    renamed = save_agent(replace(loaded, name="renamed"), tmp_path / "renamed.safetensors")
    assert renamed.card["name"] == "renamed"
    assert load_agent(tmp_path / "renamed.safetensors").name == "renamed"


# ---- refusals -------------------------------------------------------------------------------------------------------


@ALL
def test_truncated_files(agent, tmp_path):
    file = write_file(agent, tmp_path / "agent.safetensors")
    whole = file.read_bytes()
    for size in [*(len(whole) * k // 10 for k in range(10)), 1, 7, 8, 9, len(whole) - 1]:
        file.write_bytes(whole[:size])
        assert "not a usable safetensors file" in read_error(file)
    file.write_bytes(whole + b"\0")
    assert "not a usable safetensors file" in read_error(file)


class Payload:
    """Creates a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple:
        return os.mkdir, (str(self.folder),)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_not_loaded(protocol, tmp_path):
    file, folder = tmp_path / "agent.safetensors", tmp_path / "opened"
    file.write_bytes(pickle.dumps(Payload(folder), protocol))
    assert "not a usable safetensors file" in read_error(file)
    assert not folder.exists()
    pickle.loads(file.read_bytes())
    assert folder.exists()  # it would have worked


def test_embedded_pickles_are_not_loaded(tmp_path):
    """A pickle in place of the card, and one in place of the weights."""
    file = write_file(gnn(), tmp_path / "agent.safetensors")
    header, numbers = split_file(file)
    poison = pickle.dumps(Payload(tmp_path / "opened"), 0)
    file.write_bytes(join_file(header, poison + numbers[len(poison) :]))
    with suppress(cg.FileFormatError):
        load_agent(file)  # numbers like any others, if they are finite
    header["__metadata__"]["curiograph"] = poison.decode("latin-1")
    file.write_bytes(join_file(header, numbers))
    assert "its card cannot be read" in read_error(file)
    assert not (tmp_path / "opened").exists()


def test_other_files(tmp_path):
    file = tmp_path / "agent.safetensors"
    np.savez(tmp_path / "arrays.npz", **gnn().network)
    contents = [
        b"",
        b"gnn",
        b"an agent, honestly\n" * 100,
        b'{"format": 1, "kind": "gnn"}',
        b"\0" * 1000,
        b"\xff" * 1000,
        (tmp_path / "arrays.npz").read_bytes(),
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 4) + b"null",
        struct.pack("<Q", 3) + b'{"a',
        struct.pack("<Q", 4) + b'"\xff\xfe"',
    ]
    for content in contents:
        file.write_bytes(content)
        assert "not a usable safetensors file" in read_error(file), content[:20]


def test_headers_with_wrong_sizes(tmp_path):
    file = write_file(gnn(), tmp_path / "agent.safetensors")
    data, (header, numbers) = file.read_bytes(), split_file(file)
    (size,) = struct.unpack("<Q", data[:8])
    for claimed in (
        size + 1,
        len(data) - 8,
        len(data),
        10**8,
        10**9,
        2**32,
        2**63 - 1,
        2**63,
        2**64 - 1,
        0,
        1,
        size - 1,
    ):
        file.write_bytes(struct.pack("<Q", claimed) + data[8:])
        read_error(file)
    for change in ([0, 2**40], [0, -4], [2**62, 2**62 + 4], [0, 1], [4, 0], [0.0, 4.0], "all", None, [0, 4, 8]):
        file.write_bytes(join_file(header | {"scale": header["scale"] | {"data_offsets": change}}, numbers))
        assert "not a usable safetensors file" in read_error(file), change
    for change in ([2**40], [-1], [2**62, 4], [1.0], "one", None, [2**64], [True]):
        file.write_bytes(join_file(header | {"scale": header["scale"] | {"shape": change}}, numbers))
        assert "not a usable safetensors file" in read_error(file), change


def test_safetensors_without_a_card(tmp_path):
    file = tmp_path / "agent.safetensors"
    for metadata in (None, {}, {"format": "pt"}, {"Curiograph": "{}"}):
        file.write_bytes(save(dict(gnn().network), metadata=metadata))
        assert read_error(file) == "is a safetensors file, but not of a curiograph agent: its header has no card."
    file.write_bytes(save({}, metadata=None))
    assert "its header has no card" in read_error(file)


@pytest.mark.parametrize(
    "card",
    [
        "",
        "{",
        "[]",
        "{}",
        "null",
        "3",
        '"gnn"',
        "NaN",
        "\0",
        "[" * 100_000,
        "9" * 10_000,
        '{"format": 1}',
        '{"format": 1, "kind": "gnn"}',
        '{"format": 1, "kind": "gnn", "shape": []}',
        '{"format": 1, "kind": "gnn", "shape": [1, 2]}',
        '{"format": 1, "kind": "gnn", "shape": null}',
        '{"format": 1, "kind": "gnn", "shape": "wide"}',
        '{"format": 1, "kind": "gnn", "shape": {"depth": 4}}',
        '{"format": 1, "kind": "gnn", "shape": {"": 4}}',
        '{"format": 1, "kind": "gnn", "shape": {"self": 4}}',
        '{"format": 1, "kind": "gnn", "shape": {"width": ' + "9" * 5000 + "}}",
    ],
)
def test_cards_that_cannot_be_read(card, tmp_path):
    file = tmp_path / "agent.safetensors"
    file.write_bytes(save(dict(gnn().network), metadata={"curiograph": card}))
    assert read_error(file).startswith("its card cannot be read (")


def with_card(agent: GnnAgent | HorizonAgent, file: Path, **changes: object) -> Path:
    """Write an agent with a changed card."""
    header, _ = split_file(write_file(agent, file))
    return write_file(agent, file, json.loads(header["__metadata__"]["curiograph"]) | changes)


@pytest.mark.parametrize("number", [0, 2, -1, 1.5, "1", None, [1], {}])
def test_another_format(number, tmp_path):
    message = read_error(with_card(gnn(), tmp_path / "agent.safetensors", format=number))
    assert message == f"is an agent of format {number!r}; this version reads format 1."


@pytest.mark.parametrize("kind", ["tree", "GNN", "", None, 1, ["gnn"], {"gnn": 1}])
def test_another_kind(kind, tmp_path):
    assert "card" in read_error(with_card(gnn(), tmp_path / "agent.safetensors", kind=kind))


def test_card_with_the_wrong_kind(tmp_path):
    for agent, kind, shape in ((gnn(), "horizon", HorizonShape()), (horizon(), "gnn", GnnShape())):
        read_error(with_card(agent, tmp_path / "a.safetensors", kind=kind))
        message = read_error(with_card(agent, tmp_path / "a.safetensors", kind=kind, shape=vars(shape)))
        assert message.startswith(f"is not a whole {kind} agent: it ")


ODD_NUMBERS = [10**12, 2**20 + 1, 2**63, 10**400, 0, -1, -(10**12), True, False, "4", 4.0, 1e300, None, [4], {}]


@pytest.mark.parametrize("number", ODD_NUMBERS, ids=lambda number: repr(number)[:20])
def test_invalid_numbers_in_a_shape(number, tmp_path):
    """Each is rejected before anything of that size is allocated."""
    file = tmp_path / "agent.safetensors"
    whole = [name for name, value in vars(HorizonShape()).items() if type(value) is int]
    assert {"width", "layers", "hops", "nodes", "fan"} <= set(whole)
    for name in whole:
        with_card(horizon(), file, shape=vars(horizon().shape) | {name: number})
        assert read_error(file).startswith(f"its card has {name} = "), name
    with_card(gnn(), file, shape=vars(gnn().shape) | {"width": number})
    assert read_error(file).startswith("its card has width = ")


@pytest.mark.parametrize(
    "change",
    [{"log_features": 1}, {"inner_degree": "yes"}, {"inner_degree": None}, {"aggregation": "max"},
     {"aggregation": ["mean"]}, {"aggregation": None}, {"aggregation": True}],
)  # fmt: skip
def test_invalid_choices_in_a_shape(change, tmp_path):
    with_card(gnn(), tmp_path / "agent.safetensors", shape=vars(gnn().shape) | change)
    assert read_error(tmp_path / "agent.safetensors").startswith(f"its card has {next(iter(change))} = ")


def test_very_deep_networks(tmp_path):
    """A number of layers that would require a million arrays."""
    file = with_card(horizon(), tmp_path / "agent.safetensors", shape=vars(horizon().shape) | {"layers": 2**20})
    assert read_error(file).startswith("its card has layers = 1048576")
    with_card(horizon(), file, shape=vars(horizon().shape) | {"layers": 3})
    assert read_error(file) == "is not a whole horizon agent: it lacks array 'messages.2.bias'."


@ALL
def test_missing_and_extra_arrays(agent, tmp_path):
    file = tmp_path / "agent.safetensors"
    kind = agent.name.removeprefix("small-")
    for name in agent.network:
        rest = {other: array for other, array in agent.network.items() if other != name}
        write_file(replace(agent, network=rest), file)
        assert read_error(file) == f"is not a whole {kind} agent: it lacks array {name!r}."
    for name in ("zeta", "", "hidden.weight2", "x" * 10_000, "\n\n"):
        write_file(replace(agent, network={**agent.network, name: np.zeros(1, np.float32)}), file)
        assert f"is not a whole {kind} agent: it has an unknown array " in read_error(file)
    write_file(replace(agent, network={}), file)
    assert f"is not a whole {kind} agent: it lacks array " in read_error(file)


@ALL
def test_wrong_shapes(agent, tmp_path):
    file = tmp_path / "agent.safetensors"
    for name, array in agent.network.items():
        for odd in (array[:-1], array[..., None], array.reshape(-1, 1), np.zeros((0, 4), np.float32)):
            write_file(replace(agent, network={**agent.network, name: odd}), file)
            assert read_error(file) == f"array {name!r} is F32 {odd.shape}; its card asks for F32 {array.shape}."
    if hasattr(agent.shape, "width"):  # the networks of a planner have fixed sizes
        write_file(replace(agent, shape=replace(agent.shape, width=5)), file)
        assert "its card asks for" in read_error(file)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32, np.int8, np.bool_, np.complex64])
def test_wrong_dtypes(dtype, tmp_path):
    agent, file = gnn(), tmp_path / "agent.safetensors"
    header, _ = split_file(write_file(agent, file))
    for name in ("scale", "hidden.weight"):
        arrays = {**agent.network, name: agent.network[name].astype(dtype)}
        file.write_bytes(save(arrays, metadata=header["__metadata__"]))
        assert read_error(file).startswith(f"array {name!r} is ")


@pytest.mark.parametrize("code", ["BF16", "F8_E4M3", "F4", "F128", "", None, 7])
def test_dtypes_that_numpy_lacks(code, tmp_path):
    file = write_file(gnn(), tmp_path / "agent.safetensors")
    header, numbers = split_file(file)
    for entry in header.values():
        if "dtype" in entry:
            entry["dtype"] = code
    file.write_bytes(join_file(header, numbers))
    read_error(file)


@ALL
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite(agent, number, tmp_path):
    for name, array in agent.network.items():
        odd = array.copy()
        odd.flat[-1] = number
        write_file(replace(agent, network={**agent.network, name: odd}), tmp_path / "agent.safetensors")
        message = read_error(tmp_path / "agent.safetensors")
        assert message == f"array {name!r} holds numbers that are not finite."


def test_unknown_sources(tmp_path):
    for source in ("igt-rgg", "", "no/such/file.safetensors", "a\0b", str(tmp_path), tmp_path, tmp_path / "none"):
        with pytest.raises(cg.UnknownNameError, match="there is no shipped agent and no file") as caught:
            load_agent(source)
        assert repr(str(source)) in str(caught.value)
        assert ", ".join(shipped_agents()) in str(caught.value)
    for source in (None, 3, b"igt-rg", ["igt-rg"], gnn()):
        with pytest.raises(cg.SettingError, match="loaded from a name or a path"):
            load_agent(source)
    with pytest.raises(cg.UnknownNameError, match="there is no agent 'igt-rgg'"):
        as_agent("igt-rgg")


def test_overlong_names():
    for lookup in (load_agent, as_agent):
        with pytest.raises(cg.UnknownNameError, match="there is no"):
            lookup("x" * 5000)


def test_invalid_file_names(tmp_path):
    for name in ("agent", "agent.json", "agent.pt", "agent.safetensors.gz", "agent.SAFETENSORS"):
        with pytest.raises(cg.SettingError, match=r"ends in \.safetensors"):
            save_agent(gnn(), tmp_path / name)
    with pytest.raises(cg.CuriographError, match="does not exist; create it first"):
        save_agent(gnn(), tmp_path / "none" / "agent.safetensors")
    assert list(tmp_path.iterdir()) == []


# ---- damage ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """A folder with one valid agent of each kind."""
    folder = tmp_path_factory.mktemp("sound")
    save_file(gnn(), folder / "gnn.safetensors")
    save_file(horizon(), folder / "horizon.safetensors")
    return folder


def assert_damage_is_detected(sound: Path, kind: str, changes: dict[int, int]) -> None:
    """A damaged file either loads as an agent with arrays of the same shapes or raises CuriographError."""
    data = bytearray((sound / f"{kind}.safetensors").read_bytes())
    for place, byte in changes.items():
        data[place % len(data)] = byte
    file = sound / "damaged.safetensors"
    file.write_bytes(data)
    try:
        loaded = load_agent(file)
    except cg.CuriographError:
        return
    agent = {"gnn": gnn, "horizon": horizon}[kind]()
    assert type(loaded) is type(agent)
    shapes = {name: array.shape for name, array in loaded.network.items()}
    assert shapes == {name: array.shape for name, array in agent.network.items()}
    assert all(np.all(np.isfinite(array)) for array in loaded.network.values())


KINDS = st.sampled_from(["gnn", "horizon"])


@given(KINDS, st.dictionaries(st.integers(0, 299), st.integers(0, 255), min_size=1, max_size=4))
@example("gnn", {7: 255})
@example("gnn", {0: 0, 1: 0})
def test_corrupt_header_bytes(sound, kind, changes):
    assert_damage_is_detected(sound, kind, changes)


@given(KINDS, st.dictionaries(st.integers(0, 10**6), st.integers(0, 255), min_size=1, max_size=3))
def test_corrupt_bytes(sound, kind, changes):
    assert_damage_is_detected(sound, kind, changes)


@pytest.mark.parametrize("kind", ["gnn", "horizon"])
def test_flipped_bits_in_the_header(sound, kind):
    data = (sound / f"{kind}.safetensors").read_bytes()
    for place in range(300):
        assert_damage_is_detected(sound, kind, {place: data[place] ^ (1 << (place % 8))})


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_saving_is_atomic(failing, tmp_path, monkeypatch):
    file = save_file(gnn(), tmp_path / "agent.safetensors")
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}

    def fail(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(
        cg.CuriographError, match=r"cannot write .*: the disk is full; make room there, or choose another place\."
    ):
        save_agent(replace(gnn(), name="other"), file, {"reward": "cpt"})
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before
    with pytest.raises(cg.CuriographError, match="cannot write"):
        save_agent(gnn(), tmp_path / "new.safetensors")
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


def test_interrupt_keeps_the_old_file(tmp_path, monkeypatch):
    file = save_file(gnn(), tmp_path / "agent.safetensors")
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}

    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_agent(horizon(), file)
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before
