"""The settings and the extension of docs/editors.md, in the editors that can run here: Neovim without a
screen, and Node beside a Visual Studio Code that the test plays.
"""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from tools.vsix import FOLDER, pack

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/editors.md").read_text()

_LUA = """
vim.opt.runtimepath:prepend('{plugin}')
vim.cmd('filetype plugin on')
{setup}
vim.cmd('edit {file}')
local function waited(condition) return vim.wait(60000, condition, 50) end
local found = waited(function() return #vim.diagnostic.get(0) > 0 end)
local said = {{}}
for _, each in ipairs(vim.diagnostic.get(0)) do
  table.insert(said, each.code .. ':' .. each.lnum .. ':' .. each.col)
end
local params = {{ textDocument = vim.lsp.util.make_text_document_params() }}
params.position = {{ line = 1, character = 8 }}
local answers = vim.lsp.buf_request_sync(0, 'textDocument/hover', params, 60000)
for _, each in pairs(answers or {{}}) do table.insert(said, each.result.contents.value) end
table.insert(said, vim.bo.filetype .. ' ' .. vim.bo.shiftwidth)
vim.fn.writefile(vim.split(table.concat(said, '\\n'), '\\n'), '{out}')
vim.cmd('qall!')
"""


def test_neovim_shows_diagnostics_and_hover(tmp_path: Path) -> None:
    """With the setup of the page, but for the command, which is this tree's."""
    setup = "require('mfidl').setup()"
    assert setup in PAGE
    command = ", ".join(f"'{each}'" for each in (sys.executable, "-m", "mfidl", "lsp"))
    setup = setup.replace("setup()", f"setup({{ cmd = {{ {command} }} }})")
    file, out, script = tmp_path / "a.mfidl", tmp_path / "out", tmp_path / "init.lua"
    file.write_text("module a; // \N{GRINNING FACE}\nstruct S { a: u32; }\nstruct T { a: u33; }\n")
    script.write_text(_LUA.format(plugin=ROOT / "editors/vim", setup=setup, file=file, out=out))
    command_line = ["nvim", "--headless", "-n", "-i", "NONE", "-u", str(script)]
    done = subprocess.run(
        command_line, capture_output=True, text=True, timeout=110, check=False, cwd=tmp_path
    )
    assert out.exists(), done.stdout + done.stderr
    said = out.read_text().splitlines()
    assert said[0] == "E0301:2:14"
    assert "struct a.S" in said
    assert said[-1] == "mfidl 2"


def test_vim_reads_what_check_says(tmp_path: Path) -> None:
    """:make fills the list of places."""
    file, out, script = tmp_path / "a.mfidl", tmp_path / "out", tmp_path / "init.vim"
    file.write_text("module a;\nstruct T { a: u33; }\n")
    program = f"{sys.executable} -m mfidl check --color never"
    script.write_text(
        f"set rtp^={ROOT / 'editors/vim'}\nfiletype plugin on\nedit {file}\n"
        f"let &l:makeprg = substitute(&l:makeprg, 'mfidlc check --color never', '{program}', '')\n"
        "silent make!\n"
        "let g:said = filter(getqflist(), 'v:val.valid')\n"
        'let g:said = map(g:said, \'v:val.lnum . ":" . v:val.col . " " . v:val.text\')\n'
        f"call writefile(g:said, '{out}')\nqall!\n"
    )
    command = ["nvim", "--headless", "-n", "-i", "NONE", "-u", str(script)]
    subprocess.run(command, capture_output=True, timeout=110, check=True, cwd=tmp_path)
    assert out.read_text().splitlines() == ["2:15 unknown type `u33`"]


# Visual Studio Code -----------------------------------------------------------------------------------------


def test_the_extension_is_packed_whole_and_alike(tmp_path: Path) -> None:
    for name in ("one.vsix", "other.vsix"):
        pack(tmp_path / name, with_client=False)
    assert (tmp_path / "one.vsix").read_bytes() == (tmp_path / "other.vsix").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.vsix") as archive:
        names = set(archive.namelist())
        manifest = archive.read("extension.vsixmanifest").decode()
        package = json.loads(archive.read("extension/package.json"))
    assert {"[Content_Types].xml", "extension/extension.js", "extension/README.md"} <= names
    assert f'Id="mfidl" Version="{package["version"]}" Publisher="mfidl"' in manifest
    named = [*(each["path"] for each in package["contributes"]["grammars"])]
    named += [each["path"] for each in package["contributes"]["snippets"]]
    named += [each["configuration"] for each in package["contributes"]["languages"]]
    for each in (*named, package["main"]):
        assert f"extension/{each.removeprefix('./')}" in names


def test_every_snippet_is_a_declaration(tmp_path: Path) -> None:
    """With what it offers filled in, behind what they need."""
    snippets = json.loads((FOLDER / "snippets/mfidl.json").read_text())
    for name, snippet in snippets.items():
        body = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", "\n".join(snippet["body"])).replace("$0", "")
        head = "" if name == "module" else "module a;\n"
        needs = "struct Message { a: u32; }\n" if name == "topic" else ""
        path = tmp_path / "a.mfidl"
        path.write_text(head + needs + body + "\n")
        done = subprocess.run(
            [sys.executable, "-m", "mfidl", "check", str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{name}: {done.stderr}"


_STUBS = """
const Module = require('module');
const said = { commands: [], shown: [] };
const vscode = {
  workspace: {
    getConfiguration: () => ({ get: (name, otherwise) => (name in settings ? settings[name] : otherwise) }),
    workspaceFolders: [{ uri: { fsPath: process.argv[2] } }],
    registerTextDocumentContentProvider: (scheme, provider) => { said.provider = provider; return {}; },
    openTextDocument: async (uri) => ({ text: await said.provider.provideTextDocumentContent(uri) }),
  },
  commands: {
    registerCommand: (name, action) => { said.commands.push(name); registered[name] = action; return {}; },
    executeCommand: (...given) => given,
  },
  window: {
    activeTextEditor: {
      document: {
        languageId: 'mfidl',
        save: async () => true,
        uri: { fsPath: process.argv[2] + '/a.mfidl' },
      },
    },
    showTextDocument: async (document) => said.shown.push(document.text),
    showErrorMessage: (text) => { said.shown.push(text); },
    createWebviewPanel: () => ({ webview: { set html(text) { said.shown.push(text); } } }),
  },
  Uri: { from: (parts) => parts },
  ViewColumn: { Beside: -2 },
  EventEmitter: class { constructor() { this.event = () => {}; } fire() {} },
};
class LanguageClient {
  constructor(id, name, server, options) { said.server = server; said.options = options; }
  async start() { said.started = true; }
  get protocol2CodeConverter() {
    return { asUri: (e) => 'uri ' + e, asPosition: (e) => e, asLocation: (e) => 'at ' + e };
  }
  async dispose() { said.disposed = true; }
}
const registered = {};
const settings = JSON.parse(process.argv[3]);
const load = Module._load;
const played = { vscode, 'vscode-languageclient/node': { LanguageClient } };
Module._load = (name, ...rest) => played[name] || load(name, ...rest);
const extension = require(process.argv[4]);
(async () => {
  await extension.activate({ subscriptions: [] });
  await registered['mfidl.explain']();
  await registered['mfidl.doc']();
  said.references = await registered['mfidl.showReferences']('file:///a', { line: 1 }, ['x']);
  await registered['mfidl.restart']();
  delete said.provider;
  console.log(JSON.stringify(said));
})();
"""


def test_the_extension_starts_the_server_and_shows_explain_and_doc(tmp_path: Path) -> None:
    (tmp_path / "a.mfidl").write_text('module a;\nimport "b.mfidl";\nstruct S { a: b.T; }\n')
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/b.mfidl").write_text("module b;\nstruct T { a: u32; }\n")
    stubs = tmp_path / "stubs.js"
    stubs.write_text(_STUBS)
    settings = {"command": [sys.executable, "-m", "mfidl"], "importPaths": ["lib"]}
    given = [str(tmp_path), json.dumps(settings), str(FOLDER / "extension.js")]
    done = subprocess.run(
        ["node", str(stubs), *given], capture_output=True, text=True, timeout=110, check=False, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["server"] == {
        "command": sys.executable,
        "args": ["-m", "mfidl", "lsp"],
        "options": {"cwd": str(tmp_path)},
    }
    assert said["options"]["initializationOptions"] == {"importPaths": ["lib"]}
    explained, page = said["shown"]
    assert "struct S" in explained
    assert "memcpy, 4 bytes" in explained
    assert "<html" in page
    assert said["references"] == ["editor.action.showReferences", "uri file:///a", {"line": 1}, ["at x"]]
    assert said["started"]
    assert said["disposed"]
    package = json.loads((FOLDER / "package.json").read_text())
    contributed = {each["command"] for each in package["contributes"]["commands"]}
    assert contributed <= set(said["commands"])
