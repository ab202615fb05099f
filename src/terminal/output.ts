import { plainText, printableJson } from '../base/plain-text.js';

// What commands print. All of it may contain text of pages, flows, and services, so nothing else writes to the streams.

/** Prints to standard output. @returns false if more should wait for `drain` */
export function print(text: string): boolean {
  return process.stdout.write(plainText(text));
}

/** Prints to standard error. */
export function printError(text: string): void {
  process.stderr.write(plainText(text));
}

/** Prints a value as JSON, on one line unless `indent` says otherwise; its values stay as they are. */
export function printJson(value: unknown, indent?: number): boolean {
  return process.stdout.write(`${printableJson(JSON.stringify(value, null, indent))}\n`);
}

/** Prints what another program is to read: unchanged, unless a terminal shows it. */
export function printData(text: string): void {
  process.stdout.write(process.stdout.isTTY ? plainText(text) : text);
}
