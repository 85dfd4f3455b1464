"""The wheel for 64-bit Arm: its programs run by qemu on a bare Debian 12, and a call passes two."""

from pathlib import Path

import pytest

from .bare import run_on_bare_debian
from .conftest import DIST

pytestmark = pytest.mark.timeout(1800)  # Debian packages are downloaded

SCHEMA = "module hello;\n\nservice Hello {\n  @idempotent greet(name: string) -> string;\n}\n"
SERVER = """\
import mf
from hello import HelloServant

class Hello(HelloServant):
    def greet(self, name: str) -> str:
        return f"Hello, {name}!"

server = mf.Server("tcp://127.0.0.1:0", controller="mf://127.0.0.1:7400")
server.offer(Hello())
server.run()
"""
# pip installs on this machine what runs here, and unpacks what does not.
INSTALL = """\
dpkg --add-architecture arm64
apt-get update -qq
apt-get install -y -qq --no-install-recommends libc6:arm64 python3-venv qemu-user
python3 -m venv venv
. venv/bin/activate
pip install -q --find-links dist mfidl mf-runtime mfidl-tools
pip install -q --no-deps --no-index --find-links dist --target arm --only-binary :all: \
  --platform manylinux_2_36_aarch64 mf-controller
"""
CALL = """\
for program in mf-controller mf-relay mf-bridge; do qemu-aarch64 arm/bin/$program --version; done
mfidlc compile --python . hello.mfidl
trap 'kill $(jobs -p)' EXIT
qemu-aarch64 arm/bin/mf-controller --listen tcp://127.0.0.1:7400 --store store &
python server.py &
qemu-aarch64 arm/bin/mf-relay --listen tcp://127.0.0.1:7500 --controller mf://127.0.0.1:7400 &
mf call --where relay://127.0.0.1:7500 --deadline 60 hello.Hello.greet '{"name": "Arm"}'
kill %1
wait %1
"""


def test_a_call_goes_through_the_programs_of_the_wheel(tmp_path: Path, wheels: dict[str, Path]) -> None:
    assert wheels
    assert len(list(DIST.glob("mf_controller-*_aarch64.whl"))) == 1, "run `make wheel-aarch64` first"
    files = f"cat >hello.mfidl <<'END'\n{SCHEMA}END\ncat >server.py <<'END'\n{SERVER}END\n"

    said = run_on_bare_debian(tmp_path, INSTALL + files + CALL)
    for program in ("mf-controller", "mf-relay", "mf-bridge"):
        assert f"\n{program} 0.1.0" in said
    assert '\n"Hello, Arm!"\n' in said
