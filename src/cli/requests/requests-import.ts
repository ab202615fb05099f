import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { addImported } from '../../request-client/collection/add-imported.js';
import { Collection } from '../../request-client/collection/collection.js';
import { CollectionFile } from '../../request-client/collection/collection-file.js';
import { exportCurl } from '../../request-client/curl-export/export-curl.js';
import { importAnswer } from '../../request-client/curl-import/import-answer.js';
import { type ImportFault, type ImportResult, importCurl } from '../../request-client/curl-import/import-curl.js';
import type { ShellKind } from '../../request-client/curl-import/shells/detect-shell.js';
import { UsageError } from '../failure.js';
import { parseOptions } from '../parse-options.js';

/**
 * Curl commands on standard input to requests on standard output: to read, with `--json` one JSON value, with `--lines` one
 * JSON value for each line, which is a JSON string, with `--to` as curl commands for another shell;
 * `--into` adds them to a collection's file besides.
 *
 * @returns 1 when a command could not be imported
 */
export async function runRequestsImport(args: readonly string[]): Promise<number> {
  const { json, lines, to, into } = parseOptions(args, {
    json: { type: 'boolean' },
    lines: { type: 'boolean' },
    to: { type: 'string' },
    into: { type: 'string' },
  });
  const shell = to === undefined ? null : shellNamed(to);
  if (lines === true) return await answerLines();
  const result = importCurl(await text(process.stdin));
  if (into !== undefined) await addTo(into, result);
  if (json === true) process.stdout.write(`${JSON.stringify(importAnswer(result), null, 2)}\n`);
  else if (shell !== null) printCommands(result, shell);
  else print(result);
  return result.errors.length > 0 ? 1 : 0;
}

/** Answers in the order of the lines; a line that is no JSON string is answered with an error of its own. */
async function answerLines(): Promise<number> {
  let failed = false;
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue;
    const command = stringIn(line);
    const result = command === null ? notJson(line) : importCurl(command);
    if (result.errors.length > 0) failed = true;
    const flushed = process.stdout.write(`${JSON.stringify(importAnswer(result))}\n`);
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

/** Adds to the collection of a file, which is made where there is none. Nothing is written when nothing was imported. */
async function addTo(path: string, result: ImportResult): Promise<void> {
  if (result.requests.length === 0) return;
  const file = existsSync(path)
    ? await CollectionFile.open(path)
    : CollectionFile.create(path, Collection.create(basename(path, extname(path)), randomUUID()));
  file.collection = addImported(file.collection, result);
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
    process.stdout.write(`${command}\n\n`);
    for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  }
  printRemarks(result);
}

function print(result: ImportResult): void {
  const { requests, variables } = importAnswer(result);
  for (const { method, url, headers, body } of requests) {
    const lines = headers.map(({ name, value }) => `${name}: ${value}\n`).join('');
    const shown = body === null ? '' : `\n${typeof body === 'string' ? body : JSON.stringify(body)}\n`;
    process.stdout.write(`${method} ${url}\n${lines}${shown}\n`);
  }
  if (variables.length > 0) {
    process.stdout.write(`Variables: ${variables.map(({ name, value }) => `${name}=${value}`).join(', ')}\n`);
  }
  printRemarks(result);
}

function printRemarks({ warnings, errors }: ImportResult): void {
  for (const { level, message, line, column } of warnings) {
    process.stderr.write(`${level} (line ${line}, column ${column}): ${message}\n`);
  }
  for (const { message, line, column, excerpt } of errors) {
    process.stderr.write(`error (line ${line}, column ${column}): ${message}\n${excerpt.replace(/^/gm, '  ')}\n`);
  }
}
