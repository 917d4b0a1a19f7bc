"""From lists of words to measures of each list and a semantic network: `word_lists.py FOLDER LISTS.csv`.

LISTS.csv has the columns id, listnum, category, item and group, such as the sample of SNAFU (snafu_sample.csv of
AusterweilLab/snafu-py). Without it, lists of animals are simulated. Writes word_lists.json to FOLDER.
"""

import json
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

import curiograph as cg

ANIMALS = {  # the animals that are named most often; a word may be in several categories
    "pets": "dog cat hamster guineapig gerbil rabbit parrot parakeet goldfish ferret mouse rat fish bunny kitten puppy",
    "farm": "cow pig horse chicken goat sheep donkey rooster turkey duck goose bull ox lamb mule pony llama alpaca hen",
    "savanna": "lion tiger giraffe zebra elephant cheetah leopard hyena gazelle antelope hippopotamus hippo rhinoceros "
    "rhino ostrich meerkat buffalo aardvark camel gorilla chimpanzee monkey lemur wildebeest warthog",
    "cats": "cat lion tiger cheetah leopard panther jaguar puma cougar lynx bobcat kitten",
    "forest": "bear wolf fox deer moose elk squirrel raccoon skunk beaver coyote chipmunk possum opossum rabbit owl "
    "porcupine badger weasel hedgehog groundhog bobcat",
    "dogs": "dog wolf fox coyote hyena dingo jackal puppy poodle",
    "apes": "monkey gorilla chimpanzee orangutan ape baboon lemur human",
    "rodents": "mouse rat hamster guineapig gerbil squirrel chipmunk beaver gopher groundhog porcupine",
    "birds": "bird eagle hawk owl parrot penguin ostrich flamingo crow duck goose swan pigeon sparrow robin bluejay "
    "emu turkey chicken rooster parakeet hummingbird falcon peacock seagull dove vulture",
    "sea": "whale dolphin shark seal octopus fish squid crab lobster otter walrus sealion eel jellyfish salmon tuna "
    "shrimp penguin turtle manatee starfish orca trout goldfish stingray",
    "reptiles": "snake lizard alligator crocodile turtle tortoise iguana gecko frog toad salamander komodo newt",
    "insects": "ant bee fly butterfly wasp spider beetle cockroach mosquito grasshopper cricket moth ladybug worm",
    "australia": "kangaroo koala platypus emu dingo wallaby wombat possum",
    "bears": "bear polarbear panda grizzlybear koala",
    "arctic": "polarbear penguin seal walrus moose caribou reindeer",
}
categories = {category: words.split() for category, words in ANIMALS.items()}


def simulate_lists() -> pd.DataFrame:
    """Return two lists each of 40 people, who stay in a category for a while; wanderers leave it more often."""
    rng = np.random.default_rng(0)
    choices = list(categories.values())
    rows = []
    for person in range(40):
        group, leave = [("settlers", 0.2), ("wanderers", 0.6)][person % 2]
        for number in range(2):
            category = choices[rng.integers(len(choices))]
            for _ in range(20):
                category = choices[rng.integers(len(choices))] if rng.random() < leave else category
                rows.append((f"person {person}", number, "animals", str(rng.choice(category)), group))
    return pd.DataFrame(rows, columns=["id", "listnum", "category", "item", "group"])


folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
log = pd.read_csv(sys.argv[2]) if len(sys.argv) > 2 else simulate_lists()
log = log[["id", "listnum", "category", "item", "group"]]
tasks = {
    task: cg.human.Trajectories.from_frame(rows.drop(columns="category"), session="listnum", keep=["group"])
    for task, rows in log.groupby("category")
}


def average(frame: pd.DataFrame) -> dict[str, float]:
    """Return the means over people of all measures."""
    return frame.groupby("user").mean(numeric_only=True).mean().drop("session").to_dict()


# Words and perseverations need no categories.
found = {"tasks": []}
for task, lists in tasks.items():
    frame = cg.human.measure_lists(lists).to_frame()
    counts = {"lists": len(lists), "people": lists.num_users, "merged repeats": lists.skipped.repeats}
    found["tasks"].append({"task": task, **counts, **average(frame)})

# Clusters and switches do. Words outside of this short table count as intrusions.
animals = tasks["animals"]
frame = cg.human.measure_lists(animals, categories).to_frame()
found["groups"] = [{"group": group, **average(rows)} for group, rows in frame.groupby("group")]
print(cg.compare_groups(frame, by="group").answer)

# One network for all people, by each method.
found["networks"] = []
for method in ("random-walk", "window", "correlation"):
    network = cg.human.estimate_network(animals, method).to_networkx()
    largest = network.subgraph(max(nx.connected_components(network), key=len))
    found["networks"].append(
        {
            "method": method,
            "words": network.number_of_nodes(),
            "links": network.number_of_edges(),
            "words of the largest component": largest.number_of_nodes(),
            "its clustering": nx.average_clustering(largest),
            "its path length": nx.average_shortest_path_length(largest),
        }
    )
for rows in found.values():
    print(pd.DataFrame(rows).round(2).to_string(index=False))
(folder / "word_lists.json").write_text(json.dumps(found, indent=1) + "\n")
