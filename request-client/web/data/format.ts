import { withoutVariables } from './variables.js';

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
}

export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/** The class for a status: by the status alone, whatever a test says. */
export function tone(status: number | null): string {
  if (status !== null && status < 300) return 'good';
  return status !== null && status < 400 ? 'warn' : 'bad';
}

/** Strings, variables, empty lists and objects, other marks, and the rest. */
const TOKEN = /\s*("(?:[^"\\]|\\.)*"|\{\{[^{}]+\}\}|[{[]\s*[}\]]|[{}[\],:]|[^\s"{}[\],:]+)\s*/gs;

/** JSON with line breaks and indents; numbers, strings, variables and order are kept. Other text is returned unchanged. */
export function prettyJson(text: string): string {
  try {
    JSON.parse(withoutVariables(text));
  } catch {
    return text;
  }
  let depth = 0;
  const line = (): string => `\n${'  '.repeat(depth)}`;
  return text.replace(TOKEN, (_all, token: string) => {
    switch (token) {
      case '{':
      case '[':
        depth += 1;
        return `${token}${line()}`;
      case '}':
      case ']':
        depth -= 1;
        return `${line()}${token}`;
      case ',':
        return `,${line()}`;
      case ':':
        return ': ';
      default:
        return /^[{[]\s*[}\]]$/.test(token) ? token.replace(/\s+/, '') : token;
    }
  });
}
