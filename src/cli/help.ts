import { ALL_COMMANDS, FIRST_COMMANDS } from '../terminal/commands/all-commands.js';
import type { Command, Option } from '../terminal/commands/command.js';

/** Columns of a line. */
const WIDTH = 80;
/** Columns of names, with the spaces around them; longer names stand in a line of their own. */
const MOST_FOR_NAMES = 27;

const HOMES = {
  folder: 'The home is $TROUPE_HOME, else the current folder. It contains troupe.json.',
  user: 'The home is $TROUPE_HOME, else a folder of the user.',
} as const;

const BY_NAME = new Map(ALL_COMMANDS.map((command) => [command.name, command]));
const TOP = ALL_COMMANDS.filter(({ name }) => !name.includes(' '));

/** Every command without its subcommands, in the order of the help. */
export function commandNames(): readonly string[] {
  return TOP.map(({ name }) => name);
}

/** What can follow a command: its subcommands or other words, and its options with those of its subcommands. */
export function wordsOf(command: string): {
  readonly summary: string;
  readonly words: readonly string[];
  readonly options: readonly string[];
} {
  const own = BY_NAME.get(command);
  const below = subcommandsOf(command);
  const options = [...(own === undefined ? [] : [own]), ...below].flatMap(shownOptions).map(([name]) => `--${name}`);
  return {
    summary: plain(own?.summary ?? ''),
    words: [...below.map(({ name }) => name.slice(command.length + 1)), ...(own?.words ?? [])],
    options: [...new Set(options), '--help'],
  };
}

/**
 * The text for `--help` of a command or subcommand; with `all`, the one with all its options. Without a known command, the
 * text for `troupe --help`, or the list of all commands.
 */
export function helpFor(words: readonly string[] = [], { all = false } = {}): string {
  const command = commandIn(words);
  if (command !== undefined) return commandHelp(command, all);
  return all ? commandList() : overview();
}

/** The command or subcommand that words begin with. */
export function commandIn(words: readonly string[]): Command | undefined {
  return BY_NAME.get(words.slice(0, 2).join(' ')) ?? BY_NAME.get(words[0] ?? '');
}

/** The options that help shows: those of earlier versions are parsed, and shown nowhere. */
export function shownOptions({ options }: Command): readonly (readonly [name: string, option: Option])[] {
  return Object.entries(options).filter(([, { former }]) => former !== true);
}

/** How an option is written, such as `--junit FILE`. */
export function spelledOption(name: string, option: Option): string {
  return option.type === 'string' ? `--${name} ${option.value}` : `--${name}`;
}

/** What an option does, with whether it may be repeated. */
export function optionText(option: Option): string {
  return option.type === 'string' && option.multiple ? `${option.text} (repeatable)` : option.text;
}

/** Ways to call a command. */
export function usageOf({ name, usage }: Command): readonly string[] {
  return usage.map((rest) => `troupe ${name} ${rest}`.trimEnd());
}

/** The subcommands of a command. */
export function subcommandsOf(command: string): readonly Command[] {
  return ALL_COMMANDS.filter(({ name }) => name.startsWith(`${command} `));
}

function overview(): string {
  const first = columns(FIRST_COMMANDS.map(({ name, summary }) => [name, summary]));
  const more = TOP.filter((command) => !FIRST_COMMANDS.includes(command)).map(({ name }) => name);
  return `Usage: troupe <command> [options]

${first.replace(/(?=^.*\n$)/m, '\n')}
${wrapped(`More: ${more.join(', ')}`)}
List all commands:       troupe help all
Options of a command:    troupe <command> --help
Version:                 troupe --version
Upgrade:                 troupe setup --help

${HOMES.folder}
`;
}

function commandList(): string {
  const list = columns(ALL_COMMANDS.map(({ name, summary }) => [name, summary]));
  return `Usage: troupe <command> [options]\n\n${list}\nOptions of a command: troupe <command> --help\n`;
}

function commandHelp(command: Command, all: boolean): string {
  const { name, summary, notes = [], details = [], example, exitCodes, home } = command;
  const options = shownOptions(command);
  const main = options.filter(([, option]) => option.main);
  const isCut = !all && main.length > 0 && main.length < options.length;
  const below = subcommandsOf(name).map((one): Row => [one.name.slice(name.length + 1), one.summary]);
  const codes = exitCodes?.map((text, code) => `${code} ${text}`).join('; ');
  const paragraphs = [
    `Usage: ${usageOf(command).join('\n       ')}`,
    [`${summary}.`, ...notes, ...(all ? details : [])].map((text) => wrapped(text)).join(''),
    ...(example === undefined ? [] : [`Example: ${example}`]),
    ...(below.length === 0 ? [] : [`Commands:\n${columns(below)}`]),
    ...(isCut ? [optionList('Options', main)] : groupsOf(options).map(([group, list]) => optionList(group, list))),
    [
      ...(codes === undefined ? [] : [wrapped(`Exit codes: ${codes}.`)]),
      ...(home === undefined ? [] : [wrapped(HOMES[home])]),
      ...(isCut ? [`All options: troupe ${name} --help all\n`] : []),
      ...(below.length === 0 ? [] : [`Options of these commands: troupe ${name} <command> --help\n`]),
    ].join(''),
  ];
  return `${paragraphs
    .filter((text) => text !== '')
    .map((text) => text.trimEnd())
    .join('\n\n')}\n`;
}

type Named = readonly [name: string, option: Option];
type Row = readonly [name: string, text: string];

/** The options of each group, in the order of the table; those without a group are the first. */
export function groupsOf(options: readonly Named[]): readonly (readonly [group: string, options: readonly Named[]])[] {
  const groups = new Set(options.map(([, { group = 'Options' }]) => group));
  return [...groups].map((group) => [group, options.filter((named) => (named[1].group ?? 'Options') === group)]);
}

function optionList(heading: string, options: readonly Named[]): string {
  return `${heading}:\n${columns(options.map(([name, option]) => [spelledOption(name, option), optionText(option)]))}`;
}

/** Names, and beside each its text. */
function columns(rows: readonly Row[]): string {
  const longest = Math.max(...rows.map(([name]) => name.length + 4).filter((width) => width <= MOST_FOR_NAMES), 0);
  const indent = ' '.repeat(longest);
  return rows
    .map(([name, text]) => {
      const start = name.length + 4 <= longest ? `  ${name}`.padEnd(longest) : `  ${name}\n${indent}`;
      return start + wrapped(text, indent).slice(longest);
    })
    .join('');
}

/** A text in lines that end with a line break. */
function wrapped(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = indent;
  for (const word of plain(text).split(' ')) {
    if (line.length > indent.length && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = indent;
    }
    line += line.length > indent.length ? ` ${word}` : word;
  }
  return [...lines, line].map((one) => `${one}\n`).join('');
}

/** A sentence of the table as a terminal shows it. */
function plain(text: string): string {
  return text.replaceAll('`', '');
}
