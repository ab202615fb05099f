import { type CurlOption, optionOfLetter, optionOfName } from './options.js';
import type { Fault, Remark, Word } from './shell-command.js';
import { toText, variablesInBraces } from './source-text.js';

/** One parsed argument of a curl command line. */
export type Argument =
  | {
      readonly kind: 'option';
      readonly option: CurlOption;
      readonly on: boolean;
      readonly value: Word | null;
      readonly at: number;
      /** As written in the command: `-o`, `--output`. */
      readonly written: string;
    }
  /** `unsure` directly follows an unknown option, and may be its value. */
  | { readonly kind: 'url'; readonly word: Word; readonly unsure: boolean };

export interface ReadArguments {
  readonly args: readonly Argument[];
  readonly remarks: readonly Remark[];
  readonly fault: Fault | null;
}

/** Long options whose value is a template with `{{name}}`, such as `--expand-data`. */
const EXPAND = /^--expand-(.+)$/i;

/**
 * Parses words into options and URLs by curl's own rules: clusters, attached values, unique abbreviations, `--no-`,
 * `--`.
 */
export function readArguments(words: readonly Word[]): ReadArguments {
  const args: Argument[] = [];
  const remarks: Remark[] = [];
  let fault: Fault | null = null;
  let optionsEnded = false;
  let unsure = false;
  for (let i = 0; i < words.length; i += 1) {
    const written = words[i];
    if (written === undefined) break;
    const word = optionsEnded ? written : withoutBlanksBefore(written, remarks);
    const { text, start } = word;
    const wasUnsure = unsure;
    unsure = false;
    const takeValue = (option: CurlOption, glued: string): Word | null => {
      if (glued !== '') return { text: glued, start: start + text.length - glued.length, bare: false };
      const next = words[i + 1];
      if (next === undefined) {
        fault ??= { message: `${toText(text)} needs a value (${option.name})`, at: start };
        return null;
      }
      i += 1;
      return next;
    };
    const put = (option: CurlOption, on: boolean, glued: string, name: string): void => {
      const value = option.takesValue ? takeValue(option, glued) : null;
      if (value !== null || !option.takesValue)
        args.push({ kind: 'option', option, on, value, at: start, written: name });
    };
    if (optionsEnded || !text.startsWith('-') || text === '-') {
      args.push({ kind: 'url', word, unsure: wasUnsure });
    } else if (text === '--') {
      optionsEnded = true;
    } else if (text.startsWith('--')) {
      const [, name = '', glued = ''] = /^--([^=]*)=?([\s\S]*)$/.exec(text.replace(EXPAND, '--$1')) ?? [];
      const found = optionOfName(name);
      if (found === undefined) {
        remarks.push(unknown(`--${toText(name)}`, start));
        unsure = !text.includes('=');
      } else {
        if (text.includes('=')) remarks.push(equalsSign(name, start));
        put(found.option, found.on, glued, `--${toText(name)}`);
      }
    } else {
      for (let letterAt = 1; letterAt < text.length; letterAt += 1) {
        const option = optionOfLetter(text[letterAt] ?? '');
        if (option === undefined) {
          remarks.push(unknown(`-${toText(text.slice(letterAt))}`, start));
          unsure = true;
          break;
        }
        // curl's -N is --no-buffer.
        put(option, option.letter !== 'N', option.takesValue ? text.slice(letterAt + 1) : '', `-${text[letterAt]}`);
        if (option.takesValue) break;
      }
    }
  }
  return { args, remarks, fault };
}

/**
 * The `\ -H` of lines that were joined into one is a word that begins with a space, which curl takes for an address and
 * refuses.
 */
function withoutBlanksBefore(word: Word, remarks: Remark[]): Word {
  const text = word.text.replace(/^[ \t\r\n]+(?=[^ \t\r\n])/, '');
  if (text.length === word.text.length) return word;
  const about = variablesInBraces(text);
  const message = `The space before ${about} was left out; curl would take it for the beginning of an address`;
  remarks.push({ level: 'warning', about, message, at: word.start });
  return { ...word, text };
}

function unknown(about: string, at: number): Remark {
  return { level: 'warning', about, message: `${about} is not a known option of curl; it was left out`, at };
}

function equalsSign(name: string, at: number): Remark {
  const about = `--${name}`;
  return { level: 'warning', about, message: `${about}= is read as ${about} with a value; curl itself refuses it`, at };
}
