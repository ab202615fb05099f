import { type Edit, MappedText } from './mapped-text.js';
import { endsInsideQuotes } from './open-quotes.js';
import type { ShellKind } from './shells/detect-shell.js';

/** A part of the pasted text that has commands, without the Markdown around it. */
export interface Snippet {
  readonly text: MappedText;
  /** The shell that the info string of its fence names. */
  readonly marked: ShellKind | null;
}

interface Fence {
  readonly from: number;
  readonly to: number;
  /** Null if the block has no commands, for example an answer. */
  readonly snippet: Snippet | null;
}

const SHELLS: readonly (readonly [names: RegExp, shell: ShellKind | null])[] = [
  [/^(?:bash|sh|zsh|ksh|fish|shell|console|terminal|(?:shell|sh|bash)-?session)$/, 'posix'],
  [/^(?:powershell|pwsh|posh|ps|ps1)$/, 'powershell'],
  [/^(?:cmd|bat|batch|batchfile|dos|winbatch)$/, 'cmd'],
  [/^(?:|text|txt|plain|plaintext|curl|http|none)$/, null],
];
const OPENING = /^([ \t]*(?:(?:>|[-*+]|\d{1,3}[.)])[ \t]*)*)(`{3,40}|~{3,40})(?![`~])[ \t]*([^`\r\n]*?)[ \t]*\r?$/gm;
const HAS_COMMAND = /(?:^|[\s;&|(/\\])(?:curl(?:\.exe)?|invoke-webrequest|invoke-restmethod|iwr|irm)[\s`\\^]/i;
const ASSIGNMENTS = /^(?:\s*(?:(?:export|set)[ \t]+)?\w+=\S.*|\s*\$[\w:]+[ \t]*=.*|\s*)$/;
/** A line that begins with a command, and not with a sentence about curl. */
const COMMAND =
  /^[ \t]*(?:[^\s"'`]{0,60}[$#%>][ \t]*)?curl(?:\.exe)?[ \t]+(?=[^\n]*(?:[ \t]-{1,2}[A-Za-z]|:\/\/|localhost|["'$]))/gm;
/** Inline code; after `=`, `$` or `(` it is a command substitution. */
const INLINE = /(?<![\w`=$(\\"'])(`{1,3})(curl(?:\.exe)?[ \t](?:[^`\n]|\n(?![ \t]*\n))*?)\1(?!`)/g;

/**
 * The parts of a pasted text that have commands: code blocks and inline code of Markdown, and what is quoted with `>`. A
 * text without them is one part.
 */
export function findSnippets(bytes: string): readonly Snippet[] {
  const whole = withoutBlockQuote(MappedText.of(bytes));
  const fences = findFences(whole);
  const found: { readonly at: number; readonly snippet: Snippet }[] = [];
  let from = 0;
  for (const fence of [...fences, { from: whole.bytes.length, to: whole.bytes.length, snippet: null }]) {
    const prose = whole.slice(from, fence.from);
    const pieces = fences.length > 0 ? [...commandsIn(prose), ...inlineCode(prose)] : inlineCodeAlone(prose);
    for (const text of pieces) found.push({ at: text.offsetOf(0), snippet: { text, marked: null } });
    if (fence.snippet !== null) found.push({ at: fence.snippet.text.offsetOf(0), snippet: fence.snippet });
    from = fence.to;
  }
  if (!found.some(({ snippet }) => HAS_COMMAND.test(snippet.text.bytes))) return [{ text: whole, marked: null }];
  return found.sort((a, b) => a.at - b.at).map(({ snippet }) => snippet);
}

/** Removes `>` from the beginning of the lines if every line has it; also of quotations in quotations. */
function withoutBlockQuote(text: MappedText): MappedText {
  let inner = text;
  for (let depth = 0; depth < MAX_QUOTATIONS; depth += 1) {
    if (!/^[ \t]*>/.test(inner.bytes)) break;
    if (!inner.bytes.split('\n').every((line) => /^[ \t]*(?:>|\r?$)/.test(line))) break;
    inner = editLines(inner, (line) => /^[ \t]*>[ \t]?/.exec(line)?.[0].length ?? 0);
  }
  return inner;
}

const MAX_QUOTATIONS = 10;

/** Removes as many characters from the beginning of each line as `lengthOf` says. */
function editLines(text: MappedText, lengthOf: (line: string) => number): MappedText {
  const edits: Edit[] = [];
  let at = 0;
  for (const line of text.bytes.split('\n')) {
    const length = lengthOf(line);
    if (length > 0) edits.push({ from: at, to: at + length, text: '' });
    at += line.length + 1;
  }
  return text.edited(edits);
}

function findFences(text: MappedText): Fence[] {
  const fences: Fence[] = [];
  const { bytes } = text;
  OPENING.lastIndex = 0;
  for (let found = OPENING.exec(bytes); found !== null; found = OPENING.exec(bytes)) {
    const [line, prefix = '', fence = '', info = ''] = found;
    const before = fences.at(-1)?.to ?? 0;
    if (isData(bytes.slice(before, found.index))) continue;
    // Chats put the first line of the code behind the fence.
    const glued = HAS_COMMAND.test(`${info} `) && /^curl/i.test(info);
    const start = glued ? found.index + line.indexOf(info) : Math.min(bytes.length, found.index + line.length + 1);
    const { end, next } = closingOf(bytes, start, fence, prefix.includes('>'));
    fences.push({ from: found.index, to: next, snippet: blockOf(text.slice(start, end), prefix, glued ? '' : info) });
    OPENING.lastIndex = next;
  }
  return fences;
}

/** Whether a fence after this text is part of a command's body. */
function isData(before: string): boolean {
  const last = [...before.matchAll(COMMAND)].at(-1);
  return last !== undefined && endsInsideQuotes(before.slice(last.index));
}

/** The end of a block's content and the offset after its closing fence. A block in a quotation ends with it. */
function closingOf(bytes: string, start: number, fence: string, quoted: boolean): { end: number; next: number } {
  const close = new RegExp(`^[ \\t>]*${fence[0] ?? '`'}{${fence.length},}[ \\t]*\\r?$`, 'gm');
  close.lastIndex = start;
  const found = close.exec(bytes);
  const glued = new RegExp(`${fence}[ \\t]*\\r?$`, 'gm');
  glued.lastIndex = start;
  const atEnd = found === null ? glued.exec(bytes) : null;
  const closing = found ?? atEnd;
  const end = closing?.index ?? bytes.length;
  const left = quoted ? /^(?![ \t]*>)/gm : null;
  if (left !== null) {
    left.lastIndex = start;
    const outside = left.exec(bytes)?.index ?? end;
    if (outside < end) return { end: outside, next: outside };
  }
  return { end, next: closing === null ? end : Math.min(bytes.length, end + closing[0].length + 1) };
}

function blockOf(content: MappedText, prefix: string, info: string): Snippet | null {
  const quoted = prefix.includes('>');
  const inner = quoted ? editLines(content, (line) => /^[ \t]*(?:>[ \t]?)*/.exec(line)?.[0].length ?? 0) : content;
  const indent = quoted ? 0 : prefix.length;
  const text = editLines(inner, (line) => Math.min(indent, /^[ \t]*/.exec(line)?.[0].length ?? 0));
  const language = /^\{?\.?([\w-]*)/.exec(info.toLowerCase())?.[1] ?? '';
  const known = SHELLS.find(([names]) => names.test(language));
  if (known === undefined) return commandsIn(text).length > 0 ? { text, marked: null } : null;
  const has = HAS_COMMAND.test(text.bytes) || text.bytes.split('\n').every((line) => ASSIGNMENTS.test(line));
  return has ? { text, marked: known[1] } : null;
}

/** Commands that stand between paragraphs, each up to the next empty line. */
function commandsIn(text: MappedText): MappedText[] {
  const { bytes } = text;
  const found: MappedText[] = [];
  COMMAND.lastIndex = 0;
  for (let start = COMMAND.exec(bytes); start !== null; start = COMMAND.exec(bytes)) {
    const gap = /\n[ \t]*\r?\n/g;
    gap.lastIndex = start.index;
    let end = gap.exec(bytes)?.index ?? bytes.length;
    while (end < bytes.length && endsInsideQuotes(bytes.slice(start.index, end)))
      end = gap.exec(bytes)?.index ?? bytes.length;
    found.push(text.slice(start.index, end));
    COMMAND.lastIndex = end;
  }
  return found;
}

/** Inline code that has an address, in a text with code blocks. */
function inlineCode(text: MappedText): MappedText[] {
  return inlineIn(text).filter(({ bytes }) => /:\/\/|localhost|\{\{|\$/.test(bytes));
}

/** Inline code of a text that has no other commands. */
function inlineCodeAlone(text: MappedText): MappedText[] {
  const codes = inlineIn(text);
  if (codes.length === 0) return [];
  COMMAND.lastIndex = 0;
  return COMMAND.test(text.bytes.replace(INLINE, '')) ? [] : codes;
}

function inlineIn(text: MappedText): MappedText[] {
  return [...text.bytes.matchAll(INLINE)].map(({ index, 1: ticks = '', 2: code = '' }) =>
    text.slice(index + ticks.length, index + ticks.length + code.length),
  );
}
