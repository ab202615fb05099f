import { readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { browserCommand, requestSettingsFile } from '#troupe/config.js';
import { counted } from '#troupe/protocol/counted.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { REQUESTS_RUN } from '#troupe/terminal/commands/requests-commands.js';
import { UsageError } from '#troupe/terminal/failure.js';
import { openBrowser } from '#troupe/terminal/open-browser.js';
import { print, printError } from '#troupe/terminal/output.js';
import { checkWords, parseWords } from '#troupe/terminal/parse-options.js';
import { endAtSecond, watchSignals } from '#troupe/terminal/watch-signals.js';
import type { Collection, CollectionNode } from '../engine/collection/collection.js';
import { CollectionFile } from '../engine/collection/collection-file.js';
import { Environment } from '../engine/collection/environment.js';
import { findItem } from '../engine/collection/find-item.js';
import { CollectionRunner } from '../engine/collection-run/collection-runner.js';
import { type DataRow, readDataRows } from '../engine/collection-run/data-rows.js';
import { CollectionJUnit } from '../engine/collection-run/junit.js';
import { passed, type RequestResult, resultLines } from '../engine/collection-run/result.js';
import { Routes } from '../engine/connection/routes.js';
import { TokenStore } from '../engine/oauth/token-store.js';
import { SettingsFile } from '../window/settings-file.js';
import { withFlags } from './connection-flags.js';

const MAX_ITERATIONS = 10_000;

/**
 * Runs a collection without a window.
 * @returns 0 when every request was answered and every test passed, 1 when not, 2 when it could not begin
 */
export async function runRequestsRun(args: readonly string[]): Promise<number> {
  const { file, env, junit, folder, timeoutMs, data, iterations, adapt } = readOptions(args);
  const stop = new AbortController();
  const signals = watchSignals();
  void signals.first.then(() => stop.abort(new TroupeError('UNAVAILABLE', 'The run was cancelled')));
  endAtSecond(signals);
  const saved = await SettingsFile.open(requestSettingsFile());
  const routes = new Routes(adapt(saved.connection));
  const tokens = new TokenStore({
    routes: () => routes,
    openBrowser: (url) => {
      printError('The login page opens in the browser; the run continues when you are logged in\n');
      return openBrowser(url, browserCommand());
    },
  });
  let runner: CollectionRunner | null = null;
  try {
    const { collection } = await CollectionFile.open(file);
    const nodes = folder === undefined ? collection.items : [nodeNamed(collection.items, folder)];
    const environment =
      env === undefined ? new Map<string, string>() : Environment.parse(await readFile(env, 'utf8')).values;
    runner = new CollectionRunner({
      collection,
      environment,
      folder: dirname(resolve(file)),
      tokens,
      routes,
      requestTimeoutMs: timeoutMs ?? saved.settings.timeout * 1000,
    });
    return await report(
      runner,
      nodes,
      { collection, junit, mask: (text) => tokens.mask(text), rows: rowsOf(await rowsIn(data), iterations) },
      stop.signal,
    );
  } finally {
    signals.release();
    await runner?.close();
  }
}

interface ReportOptions {
  readonly collection: Collection;
  readonly junit: string | undefined;
  /** The data of each iteration. */
  readonly rows: readonly DataRow[];
  /** Takes tokens out of what scripts and servers said. */
  mask(text: string): string;
}

async function report(
  runner: CollectionRunner,
  nodes: readonly CollectionNode[],
  { collection, junit, mask, rows }: ReportOptions,
  signal: AbortSignal,
): Promise<number> {
  const results = new CollectionJUnit(collection, new Date().toISOString());
  let [sent, failed] = [0, 0];
  const listen = async (result: RequestResult, node: CollectionNode, iteration: number): Promise<undefined> => {
    await result.response?.dispose();
    sent += 1;
    if (!passed(result)) failed += 1;
    print(`${mask(resultLines(result, iteration).join('\n'))}\n`);
    results.add(result, node, iteration);
    return undefined;
  };
  for (const [index, data] of rows.entries()) {
    const iteration = { index, count: rows.length, data };
    await runner.runAll(nodes, (result, node) => listen(result, node, index), signal, iteration);
  }
  if (junit !== undefined) await writeFile(junit, results.text(mask));
  print(`${counted(sent, 'request')}${failed > 0 ? `, ${failed} failed` : ''}\n`);
  return failed > 0 ? 1 : 0;
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = parseWords(args, REQUESTS_RUN);
  checkWords(positionals, ['COLLECTION.json']);
  const [file = ''] = positionals;
  const seconds = values.timeout === undefined ? undefined : Number(values.timeout);
  if (seconds !== undefined && !(seconds > 0)) throw new UsageError('--timeout takes seconds above 0');
  const count = values.iterations === undefined ? undefined : Number(values.iterations);
  if (count !== undefined && !(Number.isInteger(count) && count > 0 && count <= MAX_ITERATIONS)) {
    throw new UsageError(`--iterations takes a number from 1 to ${MAX_ITERATIONS}`);
  }
  return {
    file,
    ...values,
    adapt: withFlags(values),
    iterations: count,
    timeoutMs: seconds === undefined ? undefined : seconds * 1000,
  };
}

async function rowsIn(file: string | undefined): Promise<readonly DataRow[]> {
  return file === undefined ? [{}] : readDataRows(await readFile(file), file);
}

/** As many rows as iterations: the last one is repeated. */
function rowsOf(rows: readonly DataRow[], iterations: number | undefined): readonly DataRow[] {
  return Array.from({ length: iterations ?? rows.length }, (_, index) => rows[Math.min(index, rows.length - 1)] ?? {});
}

/** A folder or request by its name, or by its path with slashes. */
function nodeNamed(nodes: readonly CollectionNode[], wanted: string): CollectionNode {
  const found = findItem(nodes, wanted);
  if (found === undefined) throw new UsageError(`The collection has no folder or request '${wanted}'`);
  return found;
}
