import type { FormPart } from '../../engine/request.js';
import type { Operation } from './operation.js';
import type { Remark } from './shell-command.js';
import { toText, variablesInBraces } from './source-text.js';

/**
 * `-F` and `--form-string` as parts of a form: `name=text`, `name=@file,...`, with `;type=` and `;filename=`.
 * Unsupported pieces (`<file`, nested parts, headers of a part) are omitted with a warning.
 */
export function readForms(forms: Operation['forms'], remarks: Remark[]): FormPart[] {
  return forms.flatMap(({ text, at, literal }) => {
    const equals = text.indexOf('=');
    const leaveOut = (why: string): FormPart[] => {
      const about = `-F ${variablesInBraces(text)}`;
      remarks.push({ level: 'warning', about, message: `${about} was left out: ${why}`, at });
      return [];
    };
    if (equals === -1) return leaveOut('it has no =');
    const name = variablesInBraces(text.slice(0, equals));
    const content = text.slice(equals + 1);
    if (literal) return [{ kind: 'text', name, value: variablesInBraces(content) }];
    if (/^[()]/.test(content)) return leaveOut('nested parts are not supported');
    if (content.startsWith('<')) return leaveOut('the text of a file is not supported here');
    const isFile = content.startsWith('@');
    const parts: FormPart[] = [];
    for (let rest = isFile ? content.slice(1) : content; ; ) {
      const segment = readSegments(rest, isFile ? ',' : '');
      const { value, parameters } = segment;
      if (segment.trailing) {
        const message = `What follows the closing quote of the form part ${name} was left out, as curl does`;
        remarks.push({ level: 'warning', about: `-F ${name}`, message, at });
      }
      for (const parameter of parameters) {
        if (/^(?:type|filename)=/i.test(parameter)) continue;
        const about = `;${variablesInBraces(parameter)}`;
        remarks.push({ level: 'warning', about, message: `${about} of the form part ${name} was left out`, at });
      }
      const type = parameterOf(parameters, 'type');
      const filename = parameterOf(parameters, 'filename');
      const typed = type === undefined ? {} : { type };
      const path = variablesInBraces(value);
      if (isFile) parts.push({ kind: 'file', name, path, ...typed, ...(filename === undefined ? {} : { filename }) });
      else parts.push({ kind: 'text', name, value: path, ...typed });
      if (segment.rest === null) {
        if (parts.length > 1) {
          const message = `The files of ${name} become parts of the same name, as browsers send them; curl nests them`;
          remarks.push({ level: 'warning', about: `-F ${name}`, message, at });
        }
        return parts;
      }
      rest = segment.rest;
    }
  });
}

interface Segments {
  readonly value: string;
  /** A quoted word was followed by more text, which curl ignores. */
  readonly trailing: boolean;
  readonly parameters: readonly string[];
  /** What follows a comma between files. */
  readonly rest: string | null;
}

function readSegments(text: string, separator: string): Segments {
  const words: string[] = [];
  let trailing = false;
  let at = 0;
  for (;;) {
    const word = readSegment(text, at, separator);
    words.push(word.text);
    trailing ||= word.trailing;
    at = word.end;
    if (text[at] === ';') at += 1;
    else {
      const [value = '', ...parameters] = words;
      return {
        value,
        parameters,
        trailing,
        rest: separator !== '' && text[at] === separator ? text.slice(at + 1) : null,
      };
    }
  }
}

const QUOTED = /^\s*"((?:[^"\\]|\\[\s\S])*)"/;

interface Segment {
  readonly text: string;
  readonly trailing: boolean;
  readonly end: number;
}

/** One word up to `;` (or the separator): spaces around it are removed, those in `"..."` are kept. */
function readSegment(text: string, from: number, separator: string): Segment {
  const parameter = /^\s*\w+=/.exec(text.slice(from, from + 40))?.[0] ?? '';
  const start = from + (from === 0 ? 0 : parameter.length);
  const quoted = QUOTED.exec(text.slice(start));
  const prefix = from === 0 ? '' : parameter.trim();
  const wordStart = start + (quoted?.[0].length ?? 0);
  let end = wordStart;
  while (end < text.length && text[end] !== ';' && (separator === '' || text[end] !== separator)) end += 1;
  const rest = text.slice(wordStart, end).trim();
  if (quoted === null) return { text: prefix + rest, trailing: false, end };
  return { text: prefix + (quoted[1] ?? '').replace(/\\(["\\])/g, '$1'), trailing: rest !== '', end };
}

function parameterOf(parameters: readonly string[], name: string): string | undefined {
  const found = parameters.find((parameter) => parameter.toLowerCase().startsWith(`${name}=`));
  return found === undefined ? undefined : toText(found.slice(name.length + 1));
}
