import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { isElements, isLook, renderElements, renderLook } from '#troupe/agent-js/look/render.js';
import type { ElementDescriptor } from '#troupe/protocol/look.js';
import { guardLeaks } from '../support/leaks.js';
import { SEED } from '../support/seed.js';

guardLeaks(t);

fc.configureGlobal({ seed: SEED });

const place = { url: 'http://shop.test/', title: 'Shop' };

function button(locator: string, more: Partial<ElementDescriptor> = {}): ElementDescriptor {
  return { role: 'button', name: locator.replace(/^.*}/, ''), locator, actions: ['click'], ...more };
}

function numbered(count: number, locator: (index: number) => string): ElementDescriptor[] {
  return Array.from({ length: count }, (_, index) => button(locator(index + 1)));
}

t.test('A look has a line for each element, with what it says beside its name', async (t) => {
  const input = { role: 'input', actions: ['input', 'clear', 'press', 'click'] } as const;
  const toggle = ['click', 'check', 'uncheck'] as const;
  const elements: ElementDescriptor[] = [
    { ...input, actions: [...input.actions], name: 'Name', locator: '{input}Name', value: 'Ada\nLovelace' },
    { role: 'input', actions: [...toggle], name: 'News', locator: '{input}News', checked: true, value: 'on' },
    { role: 'input', actions: [...toggle], name: 'All', locator: '{input}All', checked: 'mixed' },
    { role: 'input', actions: ['click'], name: 'Send', locator: '{input}Send' },
    { role: 'input', actions: ['upload'], name: 'Photo', locator: '{input}Photo' },
    { role: 'div', actions: ['input', 'clear', 'press', 'click'], name: 'Story', locator: '{div}Story', value: 'Once' },
    { role: 'select', actions: ['select'], name: 'To', locator: '{select}To', value: 'B', options: ['A', 'B'] },
    button('{button}Later', { disabled: true }),
    { role: 'a', actions: ['click'], name: 'Home', locator: '{a}Home', href: '/' },
    { role: 'a', actions: ['click'], name: '', locator: '{a:2}', href: '/basket' },
    button('{button}Below', { offscreen: true }),
    button('{button}Further', { offscreen: true }),
    button('{button}Fixed'),
  ];
  t.same(renderLook({ ...place, elements }).split('\n'), [
    'Shop · http://shop.test/',
    '{input}Name = Ada Lovelace',
    '{input}News [x]',
    '{input}All [-]',
    '{input}Send click',
    '{input}Photo upload',
    '{div}Story input = Once',
    '{select}To = B (A | B)',
    '{button}Later disabled',
    '{a}Home',
    '{a:2} -> /basket',
    'offscreen:',
    '{button}Below',
    '{button}Further',
    'onscreen:',
    '{button}Fixed',
  ]);
});

t.test('Lines that count up together stand as one, and a repeated row as one row', async (t) => {
  const rows = Array.from({ length: 500 }, (_, row) => [
    button(`{input}Select row ${row + 1}`),
    button(`{a}Order ${row + 1001}`),
    button(`{button:${row + 1}}Edit`),
  ]).flat();
  t.same(
    renderLook({ ...place, elements: rows })
      .split('\n')
      .slice(1),
    [
      '500 times, counting up together:',
      '  {input}Select row 1..500',
      '  {a}Order 1001..1500',
      '  {button:1..500}Edit',
    ],
  );
  t.same(renderElements(numbered(1500, (index) => `{button}Item ${index}`)), '{button}Item 1..1500');
});

t.test('A long run of one kind is shown in part, with the call that shows the rest', async (t) => {
  const words = fc.sample(fc.stringMatching(/^[a-z]{12}$/), { numRuns: 300, seed: 1 });
  const elements = words.map((word) => button(`{button}${word}`));
  const lines = renderLook({ ...place, elements: [...elements, button('{a}Last', { role: 'a' })] }).split('\n');
  t.equal(lines.length, 1 + 1 + 50 + 1 + 1);
  t.same(lines.slice(1, 3), ['50 of {button}, by name:', words[0]]);
  t.equal(lines.at(-2), '… 250 more of {button}: agent.look().elements.slice(50, 300)');
  t.equal(lines.at(-1), '{a}Last');
  t.equal(renderElements(elements, { maxRun: 1_000 }).split('\n').length, 1 + 300);
  const capped = renderLook({ ...place, elements }, { maxRun: 1_000, maxLines: 100 }).split('\n');
  t.equal(capped.at(-1), '… 201 more: agent.look().elements.slice(99)');
});

t.test('Rows of the same kinds have their roles told once', async (t) => {
  const names = fc.sample(fc.stringMatching(/^[a-z]{12}$/), { numRuns: 24, seed: 1 });
  const rows = names.flatMap((name, row) => [
    {
      role: 'input',
      actions: ['check'] as const,
      locator: row === 3 ? '{input:2}All' : `{input}${name}`,
      checked: false,
    },
    { role: 'a', actions: ['click'] as const, locator: row === 5 ? '{a}{b} c' : `{a}to ${name}` },
  ]);
  const elements = rows.map((row) => ({ name: '', ...row, actions: [...row.actions] }));
  const lines = renderElements([...elements, button('{button}Next')]).split('\n');
  t.equal(lines[0], '24 rows of {input} | {a}, by name:');
  t.equal(lines[1], `${names[0]} [ ] | to ${names[0]}`);
  t.equal(lines[4], `{input:2}All [ ] | to ${names[3]}`);
  t.equal(lines[6], `${names[5]} [ ] | {a}{b} c`);
  t.equal(lines.at(-1), '{button}Next');
  t.equal(lines.length, 26);
  const numbered = Array.from({ length: 30 }, (_, nth) => button(`{button:${nth % 2}}${names[nth]}`));
  t.notMatch(renderElements(numbered), 'by name', 'nothing is told before lines that say more than names');
  const odd = renderElements([...elements, button('{a}one | other', { role: 'a' })].slice(1));
  t.match(odd, '{a}one | other', 'a name with the sign between names is told by its locator');
});

t.test('A diff shows what was added, went and changed', async (t) => {
  const look = {
    ...place,
    diff: true,
    added: [button('{button}New', { offscreen: true })],
    removed: ['{button}Old'],
    changed: [
      { locator: '{input}Name', value: 'Ada', disabled: true },
      { locator: '{input}News', checked: false, value: null, offscreen: null },
      { locator: '{button}Scrolled', offscreen: true },
    ],
    unchanged: 7,
  } as const;
  const lines = [
    '- {button}Old',
    '~ {input}Name = Ada disabled',
    '~ {input}News [ ] = ""',
    '+ {button}New offscreen',
    '= 8 unchanged',
  ];
  t.same(renderLook(look).split('\n'), ['Shop · http://shop.test/', ...lines]);
  t.same(renderLook(look, { known: place }).split('\n'), lines);
  t.equal(renderLook({ ...look, added: [], removed: [], changed: [] }), '= 7 unchanged');
  const carried = [
    { locator: '{div}Invoice', after: '{div}Tax' },
    { locator: '{div}Bill', after: null, value: 'x', offscreen: true },
  ];
  t.same(renderLook({ ...look, added: [], removed: [], changed: carried }, { known: place }).split('\n'), [
    '~ {div}Invoice now after {div}Tax',
    '~ {div}Bill now first = x',
    '= 7 unchanged',
  ]);
  const sorted = Array.from({ length: 11 }, (_, nth) => ({ locator: `{tr}${nth}`, after: null }));
  t.same(
    renderLook({ ...look, added: [], removed: [], changed: [...sorted, ...carried.slice(1)] }, { known: place }).split(
      '\n',
    ),
    ['~ {div}Bill now first = x', '~ 11 stand in another order: agent.look({full: true})', '= 7 unchanged'],
  );
  const moved = { ...look, added: [], removed: [], changed: [], url: 'http://shop.test/2' };
  t.equal(renderLook(moved, { known: place }), 'Shop · http://shop.test/2\n= 7 unchanged');
});

t.test('A look of another document reads like a first one', async (t) => {
  const elements = [button('{button}New'), button('{button}Below', { offscreen: true })];
  const look = {
    ...place,
    diff: true,
    document: 'new',
    added: elements,
    removed: [],
    changed: [],
    unchanged: 0,
  } as const;
  t.equal(renderLook(look, { known: place }), renderLook({ ...place, elements }));
  t.equal(renderLook({ ...look, added: [] }), renderLook({ ...place, elements: [] }));
});

t.test('A look is known from other values', async (t) => {
  t.ok(isLook({ ...place, elements: [button('{button}Save')] }));
  t.ok(isLook({ ...place, diff: true, added: [], removed: [], changed: [], unchanged: 3 }));
  t.notOk(isLook({ ...place, status: 200 }));
  t.notOk(isLook({ ...place, elements: [1] }));
  t.notOk(isLook(null));
  t.ok(isElements([button('{button}Save')]));
  t.notOk(isElements(['{button}Save']));
});

/** What a reader makes of folded lines. */
function unfold(lines: readonly string[]): string[] {
  const all: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, rows, roles] = /^(\d+) (?:rows )?of (.*), by name:$/.exec(lines[at] ?? '') ?? [];
    for (let left = Number(rows ?? 0); left > 0; left--) {
      const columns = (roles ?? '').split(' | ');
      const line = lines[++at] ?? '';
      const row = columns.length === 1 ? [line] : line.split(' | ');
      all.push(...row.map((name, column) => (name.startsWith('{') ? name : `${columns[column]}${name}`)));
    }
    if (rows !== undefined) continue;
    const times = /^(\d+) times, /.exec(lines[at] ?? '')?.[1];
    const block: string[] = [];
    if (times === undefined) block.push(lines[at] ?? '');
    else while (lines[at + 1]?.startsWith('  ')) block.push((lines[++at] ?? '').slice(2));
    const range = /(\d+)\.\.(\d+)/;
    const [, from, to] = range.exec(block.join('\n')) ?? [];
    const count = Number(times ?? (from === undefined ? 1 : Number(to) - Number(from) + 1));
    for (let nth = 0; nth < count; nth++) {
      for (const line of block) all.push(line.replace(/(\d+)\.\.\d+/g, (_, start) => String(Number(start) + nth)));
    }
  }
  return all;
}

t.test('Folding loses nothing', async (t) => {
  const piece = fc.oneof(
    fc
      .record({ word: fc.constantFrom('Edit', 'Row 007', 'x'), from: fc.nat(12), count: fc.nat(9) })
      .map((run) =>
        Array.from({ length: run.count }, (_, nth) => `{button:${run.from + nth + 1}}${run.word} ${run.from + nth}`),
      ),
    fc.array(fc.constantFrom('{a}Home', '{a}2 of 3', '{button:1}Go', '{button:2}Go', '{a}09'), { maxLength: 6 }),
    fc
      .array(fc.constantFrom('Home', '2 of 3', 'x', 'a | b', '{q}'), { minLength: 9, maxLength: 30 })
      .map((names) => names.map((name, nth) => (nth % 2 === 0 ? `{a}${name}` : `{button:${nth % 3}}${name}`))),
    fc.array(fc.constantFrom('one', 'two', 'three', '7 of 9'), { minLength: 9, maxLength: 30 }).map((names) => {
      return names.map((name, nth) => (nth % 3 === 0 ? `{button}${name}` : `{a}${name}`));
    }),
    fc
      .record({ size: fc.integer({ min: 2, max: 4 }), count: fc.integer({ min: 1, max: 8 }) })
      .map(({ size, count }) =>
        Array.from({ length: size * count }, (_, nth) => `{a}${nth % size} ${Math.floor(nth / size)}`),
      ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const locators = pieces.flat();
      const text = renderElements(
        locators.map((locator) => button(locator, { role: /[\w]+/.exec(locator)?.[0] ?? '' })),
        { maxLines: 1_000, maxRun: 1_000 },
      );
      assert.deepEqual(unfold(text === '' ? [] : text.split('\n')), locators);
    }),
  );
  t.pass('100 lists');
});

t.end();
