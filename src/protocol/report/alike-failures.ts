import { counted } from '../counted.js';

/** What of a failure says in which way it failed. */
interface FailureWay {
  readonly code: string;
  readonly message: string;
  readonly frame?: string | null | undefined;
  readonly flow?: string | null | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/**
 * Failures with an equal key failed in the same way: the same code and message, at a line of the same text. How long was
 * waited, ports, counts, and ids differ between two of them, and each flow has a name of its own.
 */
export function failureKey({ code, message, frame, flow, line, column }: FailureWay): string {
  const failing = /(?:^|\n)> *\d+ \|([^\n]*)/.exec(frame ?? '')?.[1]?.trim();
  const place = failing ?? [line, column].filter((part) => part !== undefined).join(':');
  return `${code}\n${place}\n${withoutIds(withoutOwnName(message, flow ?? ''))}`;
}

/** Puts what failed in the same way together, each group in the order of its first. What has no key is alone. */
export function groupAlike<T>(
  items: readonly T[],
  keyOf: (item: T) => string | null,
): readonly (readonly [T, ...T[]])[] {
  const groups = new Map<unknown, [T, ...T[]]>();
  for (const item of items) {
    const key = keyOf(item) ?? Symbol();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

/** Names that a terminal lists of one group. */
const MAX_NAMES = 50;

/**
 * The line below a failure that names what else failed in the same way; null if nothing did.
 * @param kind what they are, in the singular
 */
export function alikeLine(names: readonly string[], kind: 'flow' | 'test'): string | null {
  if (names.length === 0) return null;
  const listed = [...names.slice(0, MAX_NAMES), ...(names.length > MAX_NAMES ? ['…'] : [])];
  return `and ${counted(names.length, `more ${kind}`)} failed in the same way: ${listed.join(', ')}`;
}

function withoutIds(text: string): string {
  return text
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '0')
    .replace(/\b(?=[a-f]*\d)[0-9a-f]{8,}\b/gi, '0')
    .replace(/\d+/g, '0');
}

/** Only where it is recognizable as a name: a flow may be called `a`. */
function withoutOwnName(text: string, flow: string): string {
  if (flow === '') return text;
  return text
    .replaceAll(`${flow}.js`, '*')
    .replaceAll(`${flow}.ts`, '*')
    .replaceAll(`'${flow}'`, "'*'")
    .replaceAll(`"${flow}"`, '"*"');
}
