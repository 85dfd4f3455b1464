"""The contract of all stores, and what the one in etcd does beyond it, against one node and against three."""

import os
import subprocess
from collections.abc import Callable

import pytest

from tests.etcd.cluster import Etcd
from tests.interop.peers import BUILD


@pytest.mark.parametrize("nodes", [1, 3])
def test_the_store_in_etcd_keeps_the_contract(start_etcd: Callable[[int], Etcd], nodes: int) -> None:
    etcd = start_etcd(nodes)

    done = subprocess.run(
        [BUILD / "tests" / "etcd" / "mf_etcd_tests"],
        env=os.environ | {"MF_ETCD": f"etcd://{etcd.addresses}"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "[  PASSED  ]" in done.stdout
