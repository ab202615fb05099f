import { TroupeError } from '#troupe/protocol/errors.js';

/** A row of a dictionary block. */
export interface BruRow {
  readonly name: string;
  readonly value: string;
  readonly enabled: boolean;
}

/** The blocks of a `.bru` file by name: the rows of dictionaries, the text of the others. */
export interface BruBlocks {
  rows(name: string): BruRow[];
  /** Undefined if there is no such block. */
  text(name: string): string | undefined;
  readonly names: readonly string[];
}

/** Reads the blocks of a `.bru` file. @throws INVALID_REQUEST naming the line of a block that is not closed */
export function readBruBlocks(text: string): BruBlocks {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const blocks = new Map<string, string[]>();
  for (let at = 0; at < lines.length; at += 1) {
    const [, name, open] = /^([\w:-]+)\s*([{[])\s*$/.exec(lines[at] ?? '') ?? [];
    if (name === undefined) continue;
    const end = lines.findIndex((line, index) => index > at && line.trimEnd() === (open === '{' ? '}' : ']'));
    if (end === -1) throw new TroupeError('INVALID_REQUEST', `The block '${name}' of line ${at + 1} is not closed`);
    blocks.set(name, lines.slice(at + 1, end));
    at = end;
  }
  return {
    names: [...blocks.keys()],
    rows: (name) => rowsOf(blocks.get(name) ?? []),
    text: (name) =>
      blocks
        .get(name)
        ?.map((line) => line.replace(/^ {2}/, ''))
        .join('\n'),
  };
}

function rowsOf(lines: readonly string[]): BruRow[] {
  const rows: BruRow[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').trim();
    const [, off, quoted, plain = '', rest = ''] =
      /^(~)?(?:"((?:[^"\\]|\\.)*)"|([^:]*?))\s*:\s*(.*)$/s.exec(line) ?? [];
    const name = quoted === undefined ? plain : quoted.replace(/\\(.)/gs, '$1');
    if (name === '') continue;
    let value = rest;
    if (value.startsWith("'''")) {
      const end = lines.findIndex((one, index) => index > at && one.trimEnd().endsWith("'''"));
      if (end !== -1) {
        const inner = [value.slice(3), ...lines.slice(at + 1, end), (lines[end] ?? '').trimEnd().slice(0, -3)];
        value = inner
          .map((one) => one.replace(/^ {4}/, ''))
          .join('\n')
          .replace(/^\n|\n\s*$/g, '');
        at = end;
      }
    }
    rows.push({ name, value, enabled: off === undefined });
  }
  return rows;
}
