/** A piece of source text of one kind. */
export interface SourceToken {
  readonly kind: 'comment' | 'string' | 'word' | 'digits' | 'plain';
  readonly text: string;
}

const WORDS =
  'const|let|var|function|return|if|else|for|of|in|while|do|switch|case|break|continue|new|throw|try|catch|finally|' +
  'class|extends|typeof|null|undefined|true|false|agent|match|Flow|File|args|console';
const COMMENT = String.raw`\/\/.*|\/\*[\s\S]*?(?:\*\/|$)`;
const STRING = String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|${'`'}(?:\\[\s\S]|[^${'`'}\\])*${'`'}`;
const TOKEN = new RegExp(
  String.raw`(?<comment>${COMMENT})|(?<string>${STRING})|(?<word>\b(?:${WORDS})\b)|(?<digits>\b\d[\d_.]*\b)`,
  'g',
);

/** JavaScript as lines of coloured tokens; approximate, since it is only displayed. */
export function tokensOf(source: string): readonly (readonly SourceToken[])[] {
  const lines: SourceToken[][] = [[]];
  const push = (kind: SourceToken['kind'], text: string) => {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ kind, text: part });
    }
  };
  let end = 0;
  for (const found of source.matchAll(TOKEN)) {
    push('plain', source.slice(end, found.index));
    const { comment, string, word } = found.groups ?? {};
    push(comment ? 'comment' : string ? 'string' : word ? 'word' : 'digits', found[0]);
    end = found.index + found[0].length;
  }
  push('plain', source.slice(end));
  return lines;
}
