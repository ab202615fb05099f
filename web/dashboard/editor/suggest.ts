import { membersAt, type ScriptTypes } from './script-types.js';

/** A possible completion. */
export interface Suggestion {
  readonly label: string;
  readonly detail?: string;
  readonly info?: string;
}

export interface Suggestions {
  /** Characters before the caret that the suggestions replace. */
  readonly length: number;
  /** The last character opens the list, before anything of a suggestion is typed. */
  readonly opens: boolean;
  /** What may be typed further: the list is filtered at once, and stays the same list. */
  readonly while: RegExp;
  readonly suggestions: readonly Suggestion[];
}

/** The sources of suggestions. */
export interface Surroundings {
  /** Calls of `agent`, `Flow`, `File` and global functions. */
  readonly calls: readonly ApiCall[];
  /** Elements of the looks on this page. */
  readonly elements: readonly { readonly locator: string; readonly actions: readonly string[] }[];
  /** Flows in the form of Flow.run. */
  readonly flows: readonly string[];
  /** Types of the globals; null until they are loaded. */
  readonly types: ScriptTypes | null;
}

/** A call as the prompt document describes it. */
export interface ApiCall {
  /** `agent`, `Flow` or `File`; null for a global function. */
  readonly of: string | null;
  readonly name: string;
  /** As in the document: `agent.go("https://shop.test/")`. */
  readonly example: string;
  /** The passage of the document that describes it. */
  readonly about: string;
}

const CALL = /\b(?:(agent|Flow|File)\.(\w+)|(match))\(/g;

/**
 * The calls in the service's own document for models (`GET /sessions/{id}/prompt`), the only source of them. A call is
 * described by the first passage that names it.
 */
export function callsIn(document: string): readonly ApiCall[] {
  const calls = new Map<string, ApiCall>();
  // Fenced code is for a shell.
  for (const passage of passagesOf(document.replace(/^```[\s\S]*?^```/gm, ''))) {
    for (const found of passage.matchAll(CALL)) {
      const [, of = null, member, alone = ''] = found;
      const name = member ?? alone;
      const key = `${of}.${name}`;
      if (calls.has(key)) continue;
      calls.set(key, {
        of,
        name,
        example: passage.slice(found.index, endOfCall(passage, found.index)),
        about: passage,
      });
    }
  }
  return [...calls.values()];
}

/** The completions at the end of `before`; null if there are none. */
export function suggest(before: string, { calls, elements, flows, types }: Surroundings): Suggestions | null {
  const action = /agent\.act\(\s*(['"`])((?:(?!\1).)*)\1\s*,\s*['"`](\w*)$/.exec(before);
  if (action) {
    const [, , locator, typed = ''] = action;
    const known = elements.filter((element) => element.locator === locator);
    const actions = (known.length > 0 ? known : elements).flatMap((element) => element.actions);
    return answer(
      typed,
      { opens: true },
      [...new Set(actions.length > 0 ? actions : types?.actions)].map((label) => ({ label })),
    );
  }
  const locator = /agent\.(?:act|wait|text|value)\(\s*['"`]([^'"`]*)$/.exec(before);
  if (locator) {
    return answer(
      locator[1] ?? '',
      { opens: true, quoted: true },
      elements.map(({ locator: label, actions }) => ({ label, detail: actions.join(', ') })),
    );
  }
  const flow = /Flow\.run\(\s*['"`]([^'"`]*)$/.exec(before);
  if (flow)
    return answer(
      flow[1] ?? '',
      { opens: true, quoted: true },
      flows.map((label) => ({ label })),
    );
  const member = /\b(agent|Flow|File)\.(\w*)$/.exec(before);
  if (member) {
    const [, of, typed = ''] = member;
    const described = calls.filter((call) => call.of === of).map(describe);
    const known = new Set(described.map(({ label }) => label));
    const typedOnly = (types?.types.get(of ?? '') ?? []).filter(({ name }) => !known.has(name));
    const more = typedOnly.map(({ name, signature }) => ({ label: name, detail: signature }));
    return answer(typed, { opens: true }, [...described, ...more]);
  }
  const members = types === null ? null : membersAt(before, types);
  if (members !== null) {
    const found = members.members.map(({ name, signature }) => ({ label: name, detail: signature }));
    return answer(members.typed, { opens: true }, found);
  }
  const word = /(?:^|[^\w.'"`])(\w*)$/.exec(before);
  if (!word) return null;
  const named = calls.flatMap(({ of }) => (of === null ? [] : [of]));
  const alone = calls.filter(({ of }) => of === null).map(describe);
  const known = new Set(alone.map(({ label }) => label));
  const owners = [...new Set([...named, ...(types?.globals.keys() ?? [])])].filter((name) => !known.has(name));
  return answer(word[1] ?? '', { opens: false }, [...owners.map((label) => ({ label })), ...alone]);
}

const WORD = /^\w*$/;
const QUOTED = /^[^'"`]*$/;

function answer(
  typed: string,
  { opens, quoted = false }: { opens: boolean; quoted?: boolean },
  suggestions: readonly Suggestion[],
): Suggestions | null {
  if (suggestions.length === 0) return null;
  return { length: typed.length, opens, while: quoted ? QUOTED : WORD, suggestions };
}

function describe({ name, example, about }: ApiCall): Suggestion {
  return { label: name, detail: example, info: about };
}

/** List items and paragraphs, each on one line. */
function passagesOf(document: string): readonly string[] {
  return document
    .split(/\n\s*\n|\n(?=- )/)
    .flatMap((block) =>
      block.startsWith('- ') ? [block.slice(2)] : block.split(/(?<=[.;)])\s+(?=(?:agent|Flow|File|match)\b)/),
    )
    .map((passage) => passage.replace(/\s+/g, ' ').trim());
}

/** The offset after a call's closing bracket. */
function endOfCall(text: string, from: number): number {
  let depth = 0;
  for (let at = text.indexOf('(', from); at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}
