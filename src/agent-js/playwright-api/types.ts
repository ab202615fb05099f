import { CLASSES, MEMBERS, type Methods } from './classes.js';
import { LOCATOR_MATCHERS, PAGE_MATCHERS, VALUE_MATCHERS } from './matchers.js';
import { OPTIONS, TYPE_ALIASES } from './options.js';

/** The types of `page`, `context` and `expect` for editors, made from the tables, as a namespace. */
export function playwrightNamespace(): string {
  const options = Object.entries(OPTIONS).map(([name, members]) => {
    const optional = name === 'Point' || name === 'Size' ? '' : '?';
    return `  interface ${name} { ${Object.entries(members)
      .map(([member, type]) => `${member}${optional}: ${type};`)
      .join(' ')} }`;
  });
  const aliases = Object.entries(TYPE_ALIASES).map(([name, type]) => `  type ${name} = ${type};`);
  const members: { readonly [name: string]: object | undefined } = MEMBERS;
  const classes = Object.entries(CLASSES).map(([name, methods]) =>
    [
      `  interface ${name} {`,
      ...Object.entries(members[name] ?? {}).map(([member, of]) => `    readonly ${member}: ${String(of)};`),
      ...(name === 'Page' ? ["    once(event: 'dialog', listener: (dialog: Dialog) => any): void;"] : []),
      ...methodLines(methods),
      '  }',
    ].join('\n'),
  );
  const matchers = [
    ['LocatorMatchers', LOCATOR_MATCHERS],
    ['PageMatchers', PAGE_MATCHERS],
    ['ValueMatchers', VALUE_MATCHERS],
  ] as const;
  const tables = matchers.map(([name, methods]) =>
    [`  interface ${name} {`, `    readonly not: ${name};`, ...methodLines(methods), '  }'].join('\n'),
  );
  return `namespace Playwright {
${[...options, ...aliases, ...classes, ...tables].join('\n')}
  interface Expect {
    (actual: Locator, message?: string): LocatorMatchers;
    (actual: Page, message?: string): PageMatchers;
    (actual: unknown, message?: string): ValueMatchers;
    readonly soft: Expect;
    poll(make: () => unknown, options?: { message?: string; timeout?: number; intervals?: number[] }): ValueMatchers;
    any(type: unknown): any;
    anything(): any;
    arrayContaining(part: readonly unknown[]): any;
    closeTo(value: number, digits?: number): any;
    objectContaining(part: object): any;
    stringContaining(part: string): any;
    stringMatching(pattern: string | RegExp): any;
    readonly not: Pick<Expect, 'arrayContaining' | 'objectContaining' | 'stringContaining' | 'stringMatching'>;
  }
}`;
}

/** The variables. @param kind how they are declared */
export function playwrightGlobals(kind: string): string {
  return `/** Playwright's page: the tab in front. */
${kind} page: Playwright.Page;
/** Playwright's context: the browser of the session. */
${kind} context: Playwright.BrowserContext;
/** Playwright's expect. */
${kind} expect: Playwright.Expect;`;
}

function methodLines(methods: Methods): string[] {
  return Object.entries(methods).map(
    ([name, [parameters, result]]) => `    ${name}(${parameters}): ${resultType(result)};`,
  );
}

function resultType(result: string): string {
  if (result === 'void') return 'Promise<void>';
  if (result === '%') return 'Promise<any>';
  if (result.startsWith('=')) return result.slice(1);
  if (result.startsWith('%')) return `Promise<${result.slice(1)}>`;
  if (result.startsWith('@')) return result.endsWith('[]') ? result.slice(1) : `${result.slice(1)} | null`;
  return result;
}
