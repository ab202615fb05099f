import type { Fault, Remark, ShellCommand, Stdin, Word } from './shell-command.js';
import { toText, variablesInBraces } from './source-text.js';

/** A curl command; `words` are its arguments. */
export interface CurlCommand {
  readonly words: readonly Word[];
  readonly stdin: Stdin;
  readonly fault: Fault | null;
  /** The position of the word `curl`. */
  readonly at: number;
}

export interface FoundCommands {
  readonly commands: readonly CurlCommand[];
  /** Commands other than curl. */
  readonly faults: readonly Fault[];
  /** `NAME=value` before a command or alone; bytes. */
  readonly assigned: ReadonlyMap<string, string>;
}

const CURL = /^(?:.*[/\\])?curl(?:\.exe)?$/i;
const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/;
/** Words that may precede a command without changing it. */
const BEFORE = /^(?:sudo|time|command|exec|nohup|env|builtin|do|then|else|!|\{|\(|call|&|\$|>|%|PS>?)$/;
/** Commands of a script's frame, which are irrelevant for requests. */
const FRAME = /^(?:true|:|done|fi|\}|esac|rem|::|export|set|cd|@echo|#!.*|set-strictmode)$/i;
/** Windows' set, POSIX's export. */
const DECLARES = /^(?:export|set|declare|local|readonly)$/i;

/** Finds the curl commands of a pasted text, with preceding words and the source of their standard input. */
export function findCurlCommands(commands: readonly ShellCommand[], remarks: Remark[]): FoundCommands {
  const found: CurlCommand[] = [];
  const faults: Fault[] = [];
  const assigned = new Map<string, string>();
  for (const [index, command] of commands.entries()) {
    const words = [...command.words];
    takeAssignments(words, assigned);
    const [program] = words;
    if (program === undefined) {
      if (command.fault !== null) faults.push(command.fault);
      continue;
    }
    const name = program.text;
    if (CURL.test(name)) {
      // A here-document is read after the complete line, so that of `cat <<EOF | curl` arrives at the last command.
      const fed = command.piped && command.stdin.kind === 'none';
      const stdin = fed ? stdinOf(commands[index - 1]) : command.stdin;
      found.push({ words: words.slice(1), stdin, fault: command.fault, at: program.start });
      remarks.push(...command.remarks);
    } else if (DECLARES.test(name)) {
      for (const { text } of words.slice(1)) assign(text, assigned);
    } else if (command.piped) {
      const about = `| ${variablesInBraces(name)}`;
      remarks.push({
        level: 'note',
        about,
        message: `${about} ... was left out: it processes the answer`,
        at: program.start,
      });
    } else if (!FRAME.test(name) && !feedsCurl(commands[index + 1])) {
      faults.push(command.fault ?? { message: `${shown(name)} is not a curl command`, at: program.start });
    }
  }
  return { commands: found, faults, assigned };
}

function takeAssignments(words: Word[], assigned: Map<string, string>): void {
  for (let first = words[0]; first !== undefined; first = words[0]) {
    if (BEFORE.test(first.text)) words.shift();
    else if (assign(first.text, assigned)) words.shift();
    else return;
  }
}

function assign(text: string, assigned: Map<string, string>): boolean {
  const [, name, value] = ASSIGNMENT.exec(text) ?? [];
  if (name === undefined || value === undefined) return false;
  assigned.set(name, value);
  return true;
}

function feedsCurl(next: ShellCommand | undefined): boolean {
  return next?.piped === true && CURL.test(next.words[0]?.text ?? '');
}

/** The output of the command before a pipe, if it is obvious. */
function stdinOf(before: ShellCommand | undefined): Stdin {
  const [program, ...rest] = before?.words ?? [];
  const words = rest.map(({ text }) => text);
  switch (program?.text) {
    case 'echo': {
      const bare = words[0] === '-n';
      return { kind: 'text', bytes: `${words.slice(bare ? 1 : 0).join(' ')}${bare ? '' : '\n'}` };
    }
    case 'printf': {
      const [format = '', value] = words;
      if (format === '%s' && value !== undefined) return { kind: 'text', bytes: value };
      return /[%\\]/.test(format) ? { kind: 'none' } : { kind: 'text', bytes: format };
    }
    case 'cat': {
      const [file] = words;
      return file === undefined ? (before?.stdin ?? { kind: 'none' }) : { kind: 'file', path: toText(file) };
    }
    default:
      return { kind: 'none' };
  }
}

function shown(name: string): string {
  const text = variablesInBraces(name);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
