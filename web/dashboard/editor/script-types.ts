/** A member of a type. */
export interface TypeMember {
  readonly name: string;
  /** As TypeScript writes it, without the name: `(url: string): void`. */
  readonly signature: string;
  /** The type of its value, or of what it returns, without Promise; '' if that is none of the known types. */
  readonly result: string;
}

/** What is known of the globals of scripts. */
export interface ScriptTypes {
  /** The members of a type, by its name. */
  readonly types: ReadonlyMap<string, readonly TypeMember[]>;
  /** The name of the type of each global. */
  readonly globals: ReadonlyMap<string, string>;
  /** What `agent.act` can do to an element. */
  readonly actions: readonly string[];
}

/** Characters before the caret that are read for the expression that it is in. */
const MAX_CHAIN = 2_000;

const COMMENT = String.raw`\/\/.*|\/\*[\s\S]*?\*\/`;
const STRING = String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|${'`'}(?:\\[\s\S]|[^${'`'}\\])*${'`'}`;
const MASKED = new RegExp(`${COMMENT}|${STRING}`, 'g');

/** Calling `expect` returns the matchers of one of these, which depends on its argument. */
const MATCHERS = ['LocatorMatchers', 'PageMatchers', 'ValueMatchers'];

/**
 * Reads the declarations that `troupe types` writes: interfaces with one member a line, each after the one that it
 * extends, and unions of them, of which all members are known.
 */
export function parseScriptTypes(declarations: string): ScriptTypes {
  const types = new Map<string, readonly TypeMember[]>();
  const globals = new Map<string, string>();
  const unions: (readonly [name: string, parts: readonly string[]])[] = [];
  let open: { readonly name: string; readonly end: string; readonly members: TypeMember[] } | null = null;
  for (const line of declarations.split('\n')) {
    if (open !== null) {
      if (line === open.end) {
        types.set(open.name, open.members);
        open = null;
      } else open.members.push(...memberOf(line));
      continue;
    }
    const [, union, parts = ''] = /^ *type (\w+) = (\w+(?: \| \w+)*);$/.exec(line) ?? [];
    if (union !== undefined) unions.push([union, parts.split(' | ')]);
    const [, indent = '', kind, name = '', rest = ''] =
      /^( *)(interface|declare const|declare var) (\w+)(?:: )?(.*)$/.exec(line) ?? [];
    if (kind === undefined) continue;
    // What lib.dom has under the same name comes before the colon.
    if (kind !== 'interface') globals.set(name, typeName(rest.replace(/^.* \? T : /, '').replace(/;$/, '')));
    const [, base = ''] = /^ (?:extends (\w+) )?\{$/.exec(rest) ?? [];
    if (kind === 'interface' && rest.endsWith('{'))
      open = { name, end: `${indent}}`, members: [...(types.get(base) ?? [])] };
  }
  for (const [name, parts] of [...unions, ['Matchers', MATCHERS] as const]) {
    const members = new Map(parts.flatMap((part) => types.get(part) ?? []).map((member) => [member.name, member]));
    if (members.size > 0) types.set(name, [...members.values()]);
  }
  const [, actions = ''] = /^ *type Action = (.+);$/m.exec(declarations) ?? [];
  return { types, globals, actions: [...actions.matchAll(/'(\w+)'/g)].map(([, name = '']) => name) };
}

/** The members that may follow the dot at the end of `before`, and the part of a name after it; null if not known. */
export function membersAt(
  before: string,
  { types, globals }: ScriptTypes,
): { readonly members: readonly TypeMember[]; readonly typed: string } | null {
  const chain = chainAt(maskStrings(before.slice(-MAX_CHAIN)));
  if (chain === null) return null;
  const [first, ...others] = chain.steps;
  let type = globals.get(first?.name ?? '') ?? '';
  if (first?.called) type = type === 'Expect' ? 'Matchers' : '';
  for (const { name } of others) type = types.get(type)?.find((member) => member.name === name)?.result ?? '';
  const members = types.get(type);
  return members === undefined ? null : { members, typed: chain.typed };
}

function memberOf(line: string): readonly TypeMember[] {
  const [, name, signature = ''] = /^ *(?:readonly )?(\w+)\??(.*?);?$/.exec(line) ?? [];
  if (name === undefined) return [];
  // Behind the parameters; a property has none.
  const end = signature.startsWith(':') ? 0 : closing(signature);
  return [{ name, signature: signature.replace(/^: /, ''), result: typeName(signature.slice(end).replace(/^: /, '')) }];
}

/** The offset after the bracket that closes the first one. */
function closing(text: string): number {
  let depth = 0;
  for (let at = text.indexOf('('); at >= 0 && at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return 0;
}

/** `Promise<Locator | null>`, `Playwright.Locator`, and `AgentJs.Locator` are `Locator`. */
function typeName(type: string): string {
  return /^(?:Promise<)?(?:null \| )?(?:(?:Playwright|AgentJs)\.)?([A-Z]\w*)(?:>|\b(?!\[))/.exec(type)?.[1] ?? '';
}

/** `page.getByRole(  ).fi` at the end of a text, from its beginning; null if there is none. */
function chainAt(
  text: string,
): { readonly steps: readonly { readonly name: string; readonly called: boolean }[]; readonly typed: string } | null {
  const dot = /\.\s*(\w*)$/.exec(text);
  if (dot === null) return null;
  const steps: { name: string; called: boolean }[] = [];
  let at = dot.index;
  for (;;) {
    const end = text.slice(0, at).trimEnd();
    const start = end.endsWith(')') ? opening(end) : end.length;
    const name = /(\w+)\s*$/.exec(end.slice(0, start))?.[1];
    if (start < 0 || name === undefined) return null;
    steps.unshift({ name, called: start < end.length });
    const rest = end.slice(0, start).trimEnd().slice(0, -name.length).trimEnd();
    if (!rest.endsWith('.')) return { steps, typed: dot[1] ?? '' };
    at = rest.length - 1;
  }
}

/** The offset of the bracket that the last character closes; -1 if there is none. */
function opening(text: string): number {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === ')') depth += 1;
    if (text[at] === '(') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

/** The same text with blanks for strings and comments, so that brackets in them are not counted. */
function maskStrings(text: string): string {
  return text.replace(MASKED, (found) => ' '.repeat(found.length));
}
