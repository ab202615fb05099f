import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import {
  browserCommand,
  requestDraftsFolder,
  requestHistoryFile,
  requestSettingsFile,
  requestWindowFile,
} from '#troupe/config.js';
import { REQUESTS } from '#troupe/terminal/commands/requests-commands.js';
import { UsageError } from '#troupe/terminal/failure.js';
import { openBrowser } from '#troupe/terminal/open-browser.js';
import { print, printError } from '#troupe/terminal/output.js';
import { checkWords, parseWords } from '#troupe/terminal/parse-options.js';
import { endAtSecond, watchSignals } from '#troupe/terminal/watch-signals.js';
import { Collection } from '../engine/collection/collection.js';
import { CollectionFile } from '../engine/collection/collection-file.js';
import { Drafts } from '../window/drafts.js';
import { HistoryFile } from '../window/history-file.js';
import { openWindow } from '../window/open-window.js';
import { SettingsFile } from '../window/settings-file.js';
import { WindowServer } from '../window/window-server.js';
import { WindowState } from '../window/window-state.js';
import { Workspace } from '../window/workspace.js';
import { withFlags } from './connection-flags.js';

/** Opens the window and runs until it is closed, the page asks for the end, or a signal comes. */
export async function runRequestsWindow(args: readonly string[]): Promise<number> {
  const { file, env, port, open, adapt } = readOptions(args);
  const workspace = new Workspace({
    openBrowser: (url) => openBrowser(url, browserCommand()),
    history: await HistoryFile.open(requestHistoryFile()),
    settings: await SettingsFile.open(requestSettingsFile()),
    drafts: new Drafts(requestDraftsFolder()),
    state: await WindowState.open(requestWindowFile()),
    adapt,
  });
  if (file !== null) {
    if (!existsSync(file)) await createCollection(file);
    await workspace.open(file);
  } else await workspace.restoreNew();
  for (const path of env) await workspace.changeEnvironment((environments) => environments.open(path));
  const folder = file === null ? process.cwd() : dirname(resolve(file));
  const server = await WindowServer.start({ workspace, folder, port });
  print(`The request client is at ${server.url}\nCtrl-C ends it\n`);
  const signals = watchSignals();
  endAtSecond(signals);
  const window = open ? await openWindow(server.openingUrl(), { browser: browserCommand() }) : null;
  if (window?.problem != null) printError(`${window.problem}\n`);
  await Promise.race([signals.first, server.quit, ...(window?.closed == null ? [] : [window.closed])]);
  await window?.close();
  await server.close();
  await workspace.close();
  signals.release();
  return 0;
}

async function createCollection(path: string): Promise<void> {
  const collection = Collection.create(basename(path, '.json'), randomUUID());
  await CollectionFile.create(path, collection).save();
  print(`Created ${path}\n`);
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = parseWords(args, REQUESTS);
  checkWords(positionals, ['COLLECTION.json'], 0);
  const [file = null] = positionals;
  if (file !== null && !existsSync(file) && !(file.endsWith('.json') && existsSync(dirname(resolve(file))))) {
    throw new UsageError(
      `There is no 'requests ${file}', and no file of that name; to create a collection, name a .json file in a folder that exists`,
    );
  }
  // Before a collection is created.
  const missing = values.env?.find((path) => !existsSync(path));
  if (missing !== undefined) throw new UsageError(`There is no environment file '${missing}'`);
  const port = Number(values.port ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UsageError('--port takes a number up to 65535');
  return { file, env: values.env ?? [], port, open: values['no-open'] !== true, adapt: withFlags(values) };
}
