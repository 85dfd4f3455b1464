"""The fuzzers of what Python parses, in the runtime and in the compiler (tests/fuzz/in_python): each seed is
accepted or, where a seed is to be refused, refused in words; whatever is changed is either, without another
exception and within its memory.

`make test` tries a sample of seconds; with MF_FUZZ_RUNS set, as `make fuzz` does, so many inputs, fewer of
targets that are slow.
"""

import os
import resource

import pytest

from tests.fuzz.in_python import (
    adapted,
    addresses,
    answers,
    caches,
    handshake,
    metadata,
    plans,
    proto,
    slice_,
    thrift,
    values,
)
from tests.fuzz.in_python.harness import Fuzzer, Target

RUNS = int(os.environ.get("MF_FUZZ_RUNS", "0"))
SAMPLE = 2000
SEED = 20_261_129
MOST_MEMORY_KB = 256 << 10  # that all inputs together may add to what the process has needed so far

MODULES = (adapted, addresses, answers, caches, handshake, metadata, plans, proto, slice_, thrift, values)
TARGETS = [module.TARGET for module in MODULES]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_most_seeds_are_accepted(target: Target) -> None:
    seeds = target.seeds()

    assert len(seeds) >= 3
    assert sum(target.refusal(seed) == "" for seed in seeds) > len(seeds) / 2


@pytest.mark.fuzz
@pytest.mark.timeout(0 if RUNS else 120)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_changed_inputs_are_accepted_or_refused_in_words(target: Target) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    runs = max((RUNS or SAMPLE) // target.cost, 25)
    fuzzer = Fuzzer(target, SEED)
    fuzzer.run(runs)

    assert fuzzer.accepted < runs
    assert fuzzer.ways >= 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MEMORY_KB
    if RUNS:
        print(f"  {target.name}: {runs} inputs, {fuzzer.accepted} accepted, {fuzzer.ways} ways to refuse")
