import type { RequestDraft } from '../../engine/request.js';
import { buildRequests } from './build-requests.js';
import { collectOperations } from './collect-operations.js';
import { type CurlCommand, findCurlCommands } from './curl-commands.js';
import { readArguments } from './read-arguments.js';
import { type ReadCommands, readCommands } from './read-commands.js';
import type { Fault, Remark, ShellCommand } from './shell-command.js';
import type { ShellKind } from './shells/detect-shell.js';
import { findSnippets } from './snippets.js';
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

/**
 * Makes requests from pasted curl commands, for any shell. Never throws: an unreadable command is an error with its
 * position, and the others are imported.
 */
export function importCurl(text: string, shell?: ShellKind): ImportResult {
  const source = new SourceText(text);
  const all: Collector = { requests: [], remarks: [], faults: [], values: new Map(), used: new Set(), failed: [] };
  for (const snippet of findSnippets(source.bytes)) {
    for (const commands of readCommands(snippet, shell, all.remarks)) importScript(commands, all);
  }
  const { requests, remarks, faults, values, used } = all;
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
    failed: requests.length === 0 ? text : all.failed.join('\n'),
  };
}

/** What all commands of the text give; remarks and faults have offsets of the source. */
interface Collector {
  readonly requests: RequestDraft[];
  readonly remarks: Remark[];
  readonly faults: Fault[];
  readonly values: Map<string, string>;
  readonly used: Set<string>;
  readonly failed: string[];
}

function importScript({ text, script }: ReadCommands, all: Collector): void {
  const remarks: Remark[] = [];
  const faults: Fault[] = [];
  /** Starts of failed commands that still made a request. */
  const partly = new Set<number>();
  const { commands, faults: notCurl, assigned } = findCurlCommands(script.commands, remarks);
  faults.push(...notCurl);
  for (const [name, value] of [...script.assigned, ...assigned]) all.values.set(name, value);
  for (const command of commands) {
    for (const { text: word } of command.words) for (const name of variableNames(word)) all.used.add(name);
    const { declared, made } = importCommand(command, remarks, faults);
    for (const [name, value] of declared) {
      all.used.add(name);
      all.values.set(name, value);
    }
    if (made.length > 0) partly.add(command.at);
    all.requests.push(...made);
  }
  all.remarks.push(...remarks.map((remark) => ({ ...remark, at: text.offsetOf(remark.at) })));
  all.faults.push(...faults.map((fault) => ({ ...fault, at: text.offsetOf(fault.at) })));
  if (faults.length > 0) all.failed.push(...failedCommands(text.bytes, script.commands, faults, partly));
}

function failedCommands(
  bytes: string,
  commands: readonly ShellCommand[],
  faults: readonly Fault[],
  partly: ReadonlySet<number>,
): string[] {
  const starts = commands.map(({ words: [first], fault }) => first?.start ?? fault?.at ?? 0);
  const concerned = new Set<number>();
  let index = 0;
  for (const { at } of inOrder(faults)) {
    while ((starts[index + 1] ?? Infinity) <= at) index += 1;
    concerned.add(index);
  }
  const failed = [...concerned].filter((one) => !commands[one]?.words.some(({ start }) => partly.has(start)));
  return failed.map((one) => {
    let first = one;
    while (commands[first]?.piped === true && first > 0) first -= 1;
    const text = bytes.slice(one === 0 ? 0 : starts[first], starts[one + 1]);
    return toText(text)
      .trim()
      .replace(/\s*(?:;|&&?|\|\|?)$/, '');
  });
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
    faults.push(...built.faults);
  }
  return { made, declared: variables };
}

function inOrder<T extends { readonly at: number }>(entries: readonly T[]): T[] {
  return [...entries].sort((a, b) => a.at - b.at);
}
