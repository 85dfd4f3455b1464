"""Packs editors/vscode as an extension for Visual Studio Code: `python tools/vsix.py build/mfidl.vsix`.

A .vsix is a zip file with two descriptions beside the folder `extension`. The language client comes from
npm, by the sums of package-lock.json; `--without-client` packs without it, where there is no npm:
highlighting and snippets work then, and the language server does not. The same tree makes the same file.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

FOLDER = Path(__file__).parents[1] / "editors/vscode"
_NOT_PACKED = ("node_modules", "package-lock.json")
_ASSETS = {
    "Microsoft.VisualStudio.Code.Manifest": "package.json",
    "Microsoft.VisualStudio.Services.Content.Details": "README.md",
    "Microsoft.VisualStudio.Services.Content.License": "LICENSE.txt",
}
_TIME = (1980, 1, 1, 0, 0, 0)
_TYPES = {
    "js": "application/javascript",
    "json": "application/json",
    "md": "text/markdown",
    "txt": "text/plain",
    "vsixmanifest": "text/xml",
}


class PackError(Exception):
    """The text says what is missing."""


def pack(target: Path, *, with_client: bool = True) -> None:
    """Writes the file whole or not at all."""
    with tempfile.TemporaryDirectory() as folder:
        extension = Path(folder) / "extension"
        shutil.copytree(FOLDER, extension, ignore=shutil.ignore_patterns(*_NOT_PACKED))
        if with_client:
            _add_client(extension)
        files = {each.relative_to(folder).as_posix(): each.read_bytes() for each in _files(extension)}
    package = json.loads(files["extension/package.json"])
    files["extension.vsixmanifest"] = _manifest(package).encode()
    files["[Content_Types].xml"] = _content_types(files).encode()
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, _TIME), files[name], zipfile.ZIP_DEFLATED)
    partial.replace(target)


def _files(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file() and ".bin" not in each.parts]


def _add_client(extension: Path) -> None:
    shutil.copy(FOLDER / "package-lock.json", extension)
    command = ["npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(
            command, cwd=extension, capture_output=True, text=True, timeout=300, check=False
        )
    except FileNotFoundError:
        raise PackError("npm is not installed; --without-client packs what needs none") from None
    if done.returncode != 0:
        raise PackError(f"npm could not get the language client: {done.stderr.strip()[-500:]}")
    (extension / "package-lock.json").unlink()


def _manifest(package: dict[str, object]) -> str:
    identity = (
        f'Language="en-US" Id={quoteattr(str(package["name"]))} Version={quoteattr(str(package["version"]))}'
    )
    assets = "".join(
        f'    <Asset Type="{kind}" Path="extension/{name}" Addressable="true"/>\n'
        for kind, name in _ASSETS.items()
    )
    engines = package["engines"]
    assert isinstance(engines, dict)
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity {identity} Publisher={quoteattr(str(package["publisher"]))}/>
    <DisplayName>{escape(str(package["displayName"]))}</DisplayName>
    <Description xml:space="preserve">{escape(str(package["description"]))}</Description>
    <Categories>Programming Languages,Formatters,Linters,Snippets</Categories>
    <License>extension/LICENSE.txt</License>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={quoteattr(str(engines["vscode"]))}/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
{assets}  </Assets>
</PackageManifest>
"""


def _content_types(names: dict[str, bytes]) -> str:
    endings = sorted(
        {name.rpartition("/")[2].rpartition(".")[2] for name in names if "." in name.rpartition("/")[2]}
    )
    rows = "".join(
        f'<Default Extension=".{each}" ContentType="{_TYPES.get(each, "application/octet-stream")}"/>'
        for each in endings
    )
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="{types}">{rows}</Types>\n'


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("target", type=Path)
    parser.add_argument("--without-client", action="store_true")
    given = parser.parse_args(arguments)
    try:
        pack(given.target, with_client=not given.without_client)
    except PackError as error:
        print(f"vsix: {error}", file=sys.stderr)
        return 1
    print(f"vsix: {given.target}, {given.target.stat().st_size // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
