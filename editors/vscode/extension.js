// Starts `mfidlc lsp`, and shows what `mfidlc explain` and `mfidlc doc` write. Implements the settings and
// the commands of package.json; it does not read schemas itself.
'use strict';

const { execFile } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

const EXPLAINED = 'mfidl-explain';
let client;

function settings() {
  const found = vscode.workspace.getConfiguration('mfidl');
  return { command: found.get('command', ['mfidlc']), importPaths: found.get('importPaths', []) };
}

function folder() {
  const first = (vscode.workspace.workspaceFolders || [])[0];
  return first && first.uri.fsPath;
}

// The program and its arguments; a program with a folder in its name is below the first folder.
function command(...more) {
  const [program, ...given] = settings().command;
  const isBelow = program.includes('/') && !path.isAbsolute(program) && folder();
  return { program: isBelow ? path.join(folder(), program) : program, args: [...given, ...more] };
}

function imports() {
  return settings().importPaths.flatMap((each) => ['-I', each]);
}

async function start() {
  const { program, args } = command('lsp');
  client = new LanguageClient(
    'mfidl',
    'MF/IDL',
    { command: program, args, options: { cwd: folder() } },
    {
      documentSelector: [{ language: 'mfidl' }],
      initializationOptions: { importPaths: settings().importPaths },
      synchronize: { configurationSection: 'mfidl' },
    },
  );
  await client.start();
}

async function restart() {
  if (client) await client.dispose();
  await start();
}

function run(file, name, ...more) {
  const { program, args } = command(name, file, ...imports(), ...more);
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd: folder() || path.dirname(file), maxBuffer: 1 << 26 }, (error, out, said) =>
      error ? reject(new Error(said || error.message)) : resolve(out),
    );
  });
}

// The file of the active editor, saved.
async function current() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== 'mfidl') throw new Error('open a schema first');
  await editor.document.save();
  return editor.document.uri.fsPath;
}

async function explain() {
  const file = await current();
  const uri = vscode.Uri.from({ scheme: EXPLAINED, path: `${file}.txt` });
  explained.changed.fire(uri);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}

const explained = {
  changed: new vscode.EventEmitter(),
  get onDidChange() {
    return this.changed.event;
  },
  provideTextDocumentContent(uri) {
    return run(uri.path.replace(/\.txt$/, ''), 'explain', '--color', 'never').catch((error) => error.message);
  },
};

async function doc() {
  const file = await current();
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'mfidl-doc-'));
  await run(file, 'doc', '--out', made);
  const pages = fs.readdirSync(made).filter((each) => each.endsWith('.html'));
  const page = pages.find((each) => each !== 'index.html') || pages[0];
  const panel = vscode.window.createWebviewPanel('mfidl.doc', path.basename(file), vscode.ViewColumn.Beside, {
    enableScripts: true,
    localResourceRoots: [],
  });
  panel.webview.html = fs.readFileSync(path.join(made, page), 'utf8');
  fs.rmSync(made, { recursive: true, force: true });
}

// What a code lens says; the editor's own command wants objects of its own.
function showReferences(uri, position, locations) {
  const convert = client.protocol2CodeConverter;
  return vscode.commands.executeCommand(
    'editor.action.showReferences',
    convert.asUri(uri),
    convert.asPosition(position),
    locations.map((each) => convert.asLocation(each)),
  );
}

function reported(action) {
  return async (...given) => {
    try {
      return await action(...given);
    } catch (error) {
      return vscode.window.showErrorMessage(`MF/IDL: ${error.message}`);
    }
  };
}

async function activate(context) {
  const commands = {
    'mfidl.restart': restart,
    'mfidl.explain': explain,
    'mfidl.doc': doc,
    'mfidl.showReferences': showReferences,
  };
  for (const [name, action] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, reported(action)));
  }
  context.subscriptions.push(vscode.workspace.registerTextDocumentContentProvider(EXPLAINED, explained));
  await reported(start)();
}

function deactivate() {
  return client && client.dispose();
}

module.exports = { activate, deactivate };
