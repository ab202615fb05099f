import { CLASSES, EVENTS, MEMBERS, type Methods, NOT_OFFERED } from './classes.js';
import { LOCATOR_MATCHERS, NOT_MATCHERS, PAGE_MATCHERS, VALUE_MATCHERS } from './matchers.js';
import { OPTIONS } from './options.js';

/** The tables of docs/playwright.md: everything that scripts may call, and what they use instead of the rest. */
export function playwrightTables(): string {
  const members: { readonly [name: string]: object | undefined } = MEMBERS;
  const classes = Object.entries(CLASSES).map(([name, methods]) => {
    const own = Object.keys(members[name] ?? {}).map((member) => `\`${member}\``);
    return [name, [...own, ...calls(methods)].join(' ')];
  });
  const matchers = [
    ['`expect(locator)`', calls(LOCATOR_MATCHERS).join(' ')],
    ['`expect(page)`', calls(PAGE_MATCHERS).join(' ')],
    ['`expect(value)`', calls(VALUE_MATCHERS).join(' ')],
  ];
  const options = Object.entries(OPTIONS).map(([name, group]) => [name, Object.keys(group).map(code).join(' ')]);
  const instead = [...Object.entries(NOT_OFFERED), ...Object.entries(NOT_MATCHERS)];
  return [
    '### Classes and methods',
    list(classes),
    `\`waitForEvent\` takes ${Object.keys(EVENTS).map(code).join(', ')}.`,
    '### Matchers',
    list(matchers),
    '### Options',
    'Signatures name these groups; an option that is missing here is refused.',
    list(options),
    '### Not offered',
    list(instead.map(([name, why]) => [code(name), why])),
  ].join('\n\n');
}

function calls(methods: Methods): string[] {
  return Object.entries(methods).map(([name, [parameters]]) => `\`${name}(${parameters})\``);
}

function code(text: string): string {
  return `\`${text}\``;
}

function list(rows: readonly (readonly string[])[]): string {
  return rows.map(([name, content]) => `- ${name}: ${content}`).join('\n');
}
