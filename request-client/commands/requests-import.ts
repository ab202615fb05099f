import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { LineSplitter, linesOf } from '#troupe/base/lines.js';
import { plainLine } from '#troupe/base/plain-text.js';
import { REQUESTS_IMPORT } from '#troupe/terminal/commands/requests-commands.js';
import { UsageError } from '#troupe/terminal/failure.js';
import { print, printData, printError, printJson } from '#troupe/terminal/output.js';
import { checkWords, parseWords } from '#troupe/terminal/parse-options.js';
import { exportCurl } from '../curl/export/export-curl.js';
import { writtenRequest } from '../curl/export/written-request.js';
import { importAnswer } from '../curl/import/import-answer.js';
import { type ImportFault, type ImportResult, type ImportWarning, importCurl } from '../curl/import/import-curl.js';
import type { ShellKind } from '../curl/import/shells/detect-shell.js';
import { Collection } from '../engine/collection/collection.js';
import { CollectionFile } from '../engine/collection/collection-file.js';
import { Environment } from '../engine/collection/environment.js';
import { TextFile } from '../engine/collection/text-file.js';
import { requestsBelow } from '../engine/collection-run/collection-runner.js';
import { addImported } from '../formats/imports/add-imported.js';
import { importAny } from '../formats/imports/import-any.js';
import type { Imported } from '../formats/imports/imported.js';
import { fileName } from '../window/environments.js';

/**
 * Imports a text of any format, from a file or standard input, and prints its requests: to read, with `--json` as one
 * JSON value, with `--to` as curl commands for a shell. `--lines` reads curl commands as JSON strings, one on each line,
 * and answers with one JSON value for each. `--into` also adds the requests to a collection's file, and writes imported
 * environments beside it.
 *
 * @returns 1 if something could not be imported
 */
export async function runRequestsImport(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, REQUESTS_IMPORT);
  const { json, lines, to, into } = values;
  checkWords(positionals, ['FILE'], 0);
  const [path] = positionals;
  const shell = to === undefined ? null : shellNamed(to);
  if (lines === true) return await answerLines();
  const source = path === undefined ? await text(process.stdin) : await readFile(path, 'utf8');
  const imported = importAny(source);
  if (into !== undefined) await addTo(into, imported);
  const result = imported.format === 'curl' ? importCurl(source) : asRequests(imported);
  if (json === true) printJson(importAnswer(result), 2);
  else if (shell !== null) printCommands(result, shell);
  else printRequests(result);
  return result.errors.length > 0 ? 1 : 0;
}

/** The requests of an import with the authorization that they inherit, as far as it can be written down. */
function asRequests(imported: Imported): ImportResult {
  const { variables, warnings, errors, failed } = imported;
  const collection = addImported(Collection.create('Import', randomUUID()), imported);
  const written = collection.items.flatMap(requestsBelow).map((node) => writtenRequest(collection, node));
  const left = [...new Set(written.flatMap((one) => one.warnings))].map(
    (message): ImportWarning => ({ level: 'warning', about: 'auth', message }),
  );
  return {
    requests: written.map(({ request }) => request),
    variables,
    warnings: [...warnings, ...left],
    errors,
    failed,
  };
}

/** Answers in the order of the lines; a line that is no JSON string is answered with an error of its own. */
async function answerLines(): Promise<number> {
  let failed = false;
  for await (const line of linesOf(process.stdin)) {
    if (line?.trim() === '') continue;
    const command = line === null ? null : stringIn(line);
    const result = command === null ? notJson(line ?? '') : importCurl(command);
    if (result.errors.length > 0) failed = true;
    const flushed = printJson(importAnswer(result));
    if (!flushed) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  return failed ? 1 : 0;
}

function stringIn(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}

function notJson(line: string): ImportResult {
  const excerpt = `${line.slice(0, 76)}\n^`;
  const error: ImportFault = { message: 'The line is not a JSON string', line: 1, column: 1, excerpt };
  return { requests: [], variables: [], warnings: [], errors: [error], failed: line };
}

/** Adds to the collection of a file, which is created if needed. Writes nothing if nothing was imported. */
async function addTo(path: string, imported: Imported): Promise<void> {
  for (const { name, rows } of imported.environments) {
    const file = TextFile.create(join(dirname(path), `${fileName(name)}.postman_environment.json`));
    await file.write(Environment.create(name, randomUUID()).withRows(rows).text);
    printError(`Created ${file.path}\n`);
  }
  if (imported.items.length === 0) return;
  const file = existsSync(path)
    ? await CollectionFile.open(path)
    : CollectionFile.create(path, Collection.create(basename(path, extname(path)), randomUUID()));
  file.collection = addImported(file.collection, imported);
  await file.save();
}

const SHELLS: Readonly<Record<string, ShellKind>> = { sh: 'posix', cmd: 'cmd', powershell: 'powershell' };

function shellNamed(name: string): ShellKind {
  const shell = SHELLS[name];
  if (shell === undefined) throw new UsageError(`--to takes ${Object.keys(SHELLS).join(', ')}, not '${name}'`);
  return shell;
}

function printCommands(result: ImportResult, shell: ShellKind): void {
  for (const request of result.requests) {
    const { command, warnings } = exportCurl(request, shell);
    printData(`${command}\n\n`);
    for (const warning of warnings) printError(`${plainLine(`warning: ${warning}`)}\n`);
  }
  printRemarks(result);
}

function printRequests(result: ImportResult): void {
  const { requests, variables } = importAnswer(result);
  for (const { method, url, headers, body } of requests) {
    const lines = headers.map(({ name, value }) => `${plainLine(`${name}: ${value}`)}\n`).join('');
    const shown = body === null ? '' : `\n${typeof body === 'string' ? body : JSON.stringify(body)}\n`;
    print(`${plainLine(`${method} ${url}`)}\n${lines}${shown}\n`);
  }
  if (variables.length > 0) {
    print(`${plainLine(`Variables: ${variables.map(({ name, value }) => `${name}=${value}`).join(', ')}`)}\n`);
  }
  printRemarks(result);
}

function printRemarks({ warnings, errors }: ImportResult): void {
  for (const { level, message, line, column } of warnings) {
    const place = line === undefined || column === undefined ? '' : ` (line ${line}, column ${column})`;
    printError(`${plainLine(`${level}${place}: ${message}`)}\n`);
  }
  for (const { message, line, column, excerpt } of errors) {
    const lines = new LineSplitter({ ends: 'any' }).push(`${excerpt}\n`).map((one) => `  ${one ?? ''}\n`);
    printError(`${plainLine(`error (line ${line}, column ${column}): ${message}`)}\n${lines.join('')}`);
  }
}
