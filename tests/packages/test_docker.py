"""packaging/docker/Dockerfile: its linter, and the image that podman makes of it on a bare Debian 12."""

import pytest

from .bare import run_in_clone
from .conftest import ROOT, run

# No registry is asked: the images that it begins with are made of the root itself, before podman is there.
BASES = """\
tar --one-file-system --exclude=./srv --exclude='./var/cache/apt/*.*' --exclude=./root/.cache \
  -C / -cf /srv/base.tar .
apt-get update -qq
apt-get install -y -qq --no-install-recommends crun podman
podman import -q /srv/base.tar docker.io/library/debian:12
podman tag debian:12 docker.io/library/debian:12-slim
"""
BUILD = """\
podman build --pull=never --isolation chroot -v /root/.cache/ccache:/root/.cache/ccache \
  -f packaging/docker/Dockerfile -t mf-controller .
"""
# crun works with cgroups of one version alone. These mounts are of the root, and not of this machine.
START = """\
umount -lR /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
container() {
  podman run --network none --cgroups disabled --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 "$@"
}
trap 'podman rm -fa' EXIT
container --rm mf-controller --version
container --rm --entrypoint mf-relay mf-controller --version
container --rm --entrypoint id mf-controller
container --rm mf-controller || echo "refused with $?"
container -d --name open mf-controller --listen tcp://0.0.0.0:7400 --open
timeout 60 sh -c 'until podman logs open | grep mf://; do sleep 0.1; done'
podman stop -t 20 open
podman inspect -f 'ended with {{.State.ExitCode}}' open
"""


def test_the_linter_finds_nothing_in_the_dockerfile() -> None:
    assert run("hadolint", str(ROOT / "packaging/docker/Dockerfile")) == ""


@pytest.mark.timeout(2400)  # the programs are compiled, if ccache does not know them
def test_the_image_is_built_and_starts_the_controller() -> None:
    said = run_in_clone(ROOT, BASES + BUILD + START, "--ccache", timeout=2300)

    assert "\nmf-controller 0.1.0" in said
    assert "\nmf-relay 0.1.0" in said
    assert "\nuid=740(mf-controller)" in said
    assert "\nrefused with 1" in said
    assert "\nmf://0.0.0.0:7400" in said
    assert "\nended with 0" in said
