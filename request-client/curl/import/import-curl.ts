import type { RequestDraft } from '../../engine/request.js';
import { buildRequests } from './build-requests.js';
import { collectOperations } from './collect-operations.js';
import { type CurlCommand, findCurlCommands } from './curl-commands.js';
import { readArguments } from './read-arguments.js';
import type { Fault, Remark, ShellCommand, ShellScript } from './shell-command.js';
import { detectShell, type ShellKind } from './shells/detect-shell.js';
import { readCmd } from './shells/read-cmd.js';
import { readPosix } from './shells/read-posix.js';
import { readPowerShell } from './shells/read-powershell.js';
import { type Place, SourceText, toText, variableNames } from './source-text.js';

/** A command that was not imported, and why. */
export interface ImportFault extends Place {
  readonly message: string;
}

/**
 * Something that was omitted or changed, by name. A `note` does not change the request. Only warnings about curl commands
 * have a place in the text.
 */
export interface ImportWarning extends Partial<Place> {
  readonly level: 'note' | 'warning';
  readonly about: string;
  readonly message: string;
}

/** A shell variable of the pasted text; `value` is what the text itself assigns, else empty. */
export interface ImportedVariable {
  readonly name: string;
  readonly value: string;
}

export interface ImportResult {
  readonly requests: readonly RequestDraft[];
  readonly variables: readonly ImportedVariable[];
  readonly warnings: readonly ImportWarning[];
  readonly errors: readonly ImportFault[];
  /** The commands that failed, one on each line. */
  readonly failed: string;
}

const READERS: Readonly<Record<ShellKind, (bytes: string) => ShellScript>> = {
  posix: readPosix,
  cmd: readCmd,
  powershell: readPowerShell,
};

/**
 * Makes requests from pasted curl commands, for any shell. Never throws: an unreadable command is an error with its
 * position, and the others are imported.
 */
export function importCurl(text: string, shell?: ShellKind): ImportResult {
  const source = new SourceText(text);
  const kind = shell ?? detectShell(source.bytes);
  const script = READERS[kind](kind === 'posix' ? source.bytes : withoutPrompts(source.bytes));
  const remarks: Remark[] = [];
  const faults: Fault[] = [];
  const requests: RequestDraft[] = [];
  /** Starts of failed commands that still made a request. */
  const partly = new Set<number>();
  const values = new Map(script.assigned);
  const used = new Set<string>();
  const { commands, faults: notCurl, assigned } = findCurlCommands(script.commands, remarks);
  faults.push(...notCurl);
  for (const [name, value] of assigned) values.set(name, value);
  for (const command of commands) {
    for (const { text: word } of command.words) for (const name of variableNames(word)) used.add(name);
    const { declared, made } = importCommand(command, remarks, faults);
    for (const [name, value] of declared) {
      used.add(name);
      values.set(name, value);
    }
    if (made.length > 0) partly.add(command.at);
    requests.push(...made);
  }
  if (requests.length === 0 && faults.length === 0)
    faults.push({ message: 'There is no curl command in the text', at: 0 });
  return {
    requests,
    variables: [...used].map((name) => ({ name, value: toText(values.get(name) ?? '') })),
    warnings: inOrder(remarks).map(({ level, about, message, at }) => ({
      level,
      about,
      message,
      ...source.placeOf(at),
    })),
    errors: inOrder(faults).map(({ message, at }) => ({ message, ...source.placeOf(at) })),
    failed: requests.length === 0 ? text : failedCommands(source.bytes, script.commands, faults, partly),
  };
}

function failedCommands(
  bytes: string,
  commands: readonly ShellCommand[],
  faults: readonly Fault[],
  partly: ReadonlySet<number>,
): string {
  const starts = commands.map(({ words: [first], fault }) => first?.start ?? fault?.at ?? 0);
  const failed = new Set<number>();
  for (const { at } of faults) {
    const index = Math.max(
      0,
      starts.findLastIndex((start) => start <= at),
    );
    if (!commands[index]?.words.some(({ start }) => partly.has(start))) failed.add(index);
  }
  const texts = [...failed]
    .sort((a, b) => a - b)
    .map((index) => {
      let first = index;
      while (commands[first]?.piped === true && first > 0) first -= 1;
      const text = bytes.slice(index === 0 ? 0 : starts[first], starts[index + 1]);
      return toText(text)
        .trim()
        .replace(/\s*(?:;|&&?|\|\|?)$/, '');
    });
  return texts.join('\n');
}

/** Replaces Windows' prompts by spaces, so that offsets are kept. */
function withoutPrompts(bytes: string): string {
  return bytes.replace(/^(?:PS )?[A-Za-z]:\\[^>\n]*>/gm, (prompt) => ' '.repeat(prompt.length));
}

interface Imported {
  readonly made: readonly RequestDraft[];
  readonly declared: ReadonlyMap<string, string>;
}

function importCommand(command: CurlCommand, remarks: Remark[], faults: Fault[]): Imported {
  const { args, remarks: argumentRemarks, fault } = readArguments(command.words);
  const wrong = command.fault ?? fault;
  if (wrong !== null) {
    faults.push(wrong);
    return { made: [], declared: new Map() };
  }
  remarks.push(...argumentRemarks);
  const { operations, variables } = collectOperations(args, command.stdin, remarks);
  const made: RequestDraft[] = [];
  for (const operation of operations) {
    const built = buildRequests(operation, command.at, remarks);
    made.push(...built.requests);
    if (built.fault !== null) faults.push(built.fault);
  }
  return { made, declared: variables };
}

function inOrder<T extends { readonly at: number }>(entries: readonly T[]): T[] {
  return [...entries].sort((a, b) => a.at - b.at);
}
