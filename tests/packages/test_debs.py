"""The Debian packages: installed, upgraded and purged on a bare Debian 12."""

from pathlib import Path

import pytest

from .bare import run_on_bare_debian
from .conftest import DIST

pytestmark = pytest.mark.timeout(1800)  # Debian packages are downloaded

INSTALL = """\
apt-get update -qq
apt-get install -y -qq --no-install-recommends ./dist/*.deb
apt-get install -y -qq --no-install-recommends systemd pkg-config g++
"""
SERVICE = """\
getent passwd mf-controller
test -L /etc/systemd/system/multi-user.target.wants/mf-controller.service
systemd-analyze verify --man=no /lib/systemd/system/mf-controller.service
test -z "$(ls -A /var/lib/mf-controller 2>/dev/null)"
install -d -o mf-controller -g mf-controller -m 700 /var/lib/mf-controller
. /etc/default/mf-controller
timeout -s TERM --preserve-status 2 setpriv --reuid mf-controller --regid mf-controller --clear-groups \\
  /usr/bin/mf-controller --store /var/lib/mf-controller ${MF_CONTROLLER_OPTIONS/7400/0}
test -e /var/lib/mf-controller/lock
"""
COMPILER = """\
test "$(mfidlc --version)" = "mfidlc 0.1.0"
printf 'module shop;\\nstruct Item { name: string; }\\n' >shop.mfidl
runuser -u nobody -- env HOME=/nonexistent mfidlc check shop.mfidl
mfidlc descriptor shop.mfidl >shop.descriptor
test -s shop.descriptor
mfidlc compile --cpp out shop.mfidl
printf '#include "shop.hpp"\\nint main() { return static_cast<int>(shop::Item{}.name.size()); }\\n' >main.cpp
g++ -std=c++20 -Iout main.cpp out/shop.cpp $(pkg-config --cflags --libs mfidl-codec) -o main
./main
echo '#include "mf/client/client.hpp"' >client.cpp
echo 'int main() { mf::Client client("tcp://127.0.0.1:1"); }' >>client.cpp
g++ -std=c++20 client.cpp $(pkg-config --cflags --libs mfidl) -o client
./client
"""
UPGRADE = """\
echo 'MF_CONTROLLER_OPTIONS="--listen tcp://127.0.0.1:7499"' >/etc/default/mf-controller
for package in libmf-dev mfidlc mf-controller; do
  dpkg-deb -R dist/${package}_*.deb newer
  sed -i 's/^Version: .*/Version: 0.1.1/; s/= 0.1.0/= 0.1.1/' newer/DEBIAN/control
  if [ $package = mf-controller ]; then echo '# newer' >>newer/etc/default/mf-controller; fi
  dpkg-deb -Znone -b newer newer_$package.deb
  rm -r newer
done
dpkg --force-confold -i newer_*.deb
grep 7499 /etc/default/mf-controller
getent passwd mf-controller
dpkg-query -W mf-controller mfidlc libmf-dev
"""
PURGE = """\
apt-get purge -y -qq mf-controller mfidlc libmf-dev
if getent passwd mf-controller; then exit 1; fi
left=$(find /etc /lib /usr /var/lib -xdev -name "*mf-controller*" -o -name "*libmf*" -o -path "*mfidl*")
test -z "$left"
"""


def test_the_packages_are_installed_upgraded_and_purged(tmp_path: Path) -> None:
    assert len(list(DIST.glob("*.deb"))) == 3, "run `make debs` first"

    said = run_on_bare_debian(tmp_path, INSTALL + SERVICE + COMPILER + UPGRADE + PURGE)
    assert "tcp://127.0.0.1:" in said or "mf://127.0.0.1:" in said
    assert "mf-controller\t0.1.1" in said
