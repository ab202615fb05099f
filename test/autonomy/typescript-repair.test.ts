import t from 'tap';
import { Healer } from '#troupe/autonomy/healing/healer.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const SOURCE = `interface Args { item: string }
({ item }: Args): string => {
  const name: string = item satisfies string;
  agent.act(\`{button}Buy \${name as string}\`, 'click' as const);
  return name!;
};
`;

t.test('A repair of a TypeScript flow patches the TypeScript, types included', async (t) => {
  const call = { target: 'agent.act', flow: 'shop/buy', line: 4, column: 9 } as const;
  const error = { error: 'not found', code: 'LOCATOR_NOT_FOUND' } as const;
  const failed = { ...call, args: ['{button}Buy tea', 'click'], answer: { ok: false, error } } as const;
  const done = { ...call, args: ['{a}Get tea', 'click'], answer: { ok: true, value: {} } } as const;
  const loaded = {
    target: 'flow.load',
    args: ['shop/buy'],
    answer: { ok: true, value: { path: 'shop/buy', file: 'shop/buy.ts', source: SOURCE } },
    flow: null,
    line: 1,
    column: 1,
  } as const;
  const healer = new Healer();
  healer.record({ failed, how: 'replace', byHand: [done], trial: false });
  const [healed] = healer.heal([loaded, failed]);
  t.equal(healed?.file, 'shop/buy.ts');
  t.equal(healed?.source, SOURCE.replace('{button}Buy', '{a}Get'));
  t.match(healed?.patch, /^--- a\/flows\/shop\/buy\.ts$/m);
});

t.test(
  'A repair of a call on a second browser keeps how the flow names it, and what was done in it by hand',
  async (t) => {
    const source = `const { ben } = people;\nben.act('{button}Buy', 'click');\n`;
    const place = { flow: 'two', line: 2, column: 5 } as const;
    const error = { error: 'not found', code: 'LOCATOR_NOT_FOUND' } as const;
    const second = { ...place, target: 'agent.in' } as const;
    const failed = { ...second, args: ['ben', 'act', '{button}Buy', 'click'], answer: { ok: false, error } } as const;
    const answer = { ok: true, value: {} } as const;
    const allowed = { ...second, args: ['ana', 'act', '{button}Allow', 'click'], answer } as const;
    const done = { ...second, args: ['ben', 'act', '{a}Get', 'click'], answer } as const;
    const opened = { ...place, target: 'agent.session', args: ['ana', { state: 'ana' }], answer } as const;
    const value = { path: 'two', file: 'two.js', source };
    const loaded = { ...place, line: 1, target: 'flow.load', args: ['two'], answer: { ok: true, value } } as const;
    const heal = (byHand: readonly (typeof done | typeof allowed | typeof opened)[]) => {
      const healer = new Healer();
      healer.record({ failed, how: 'replace', byHand, trial: false });
      return healer.heal([loaded, failed])[0]?.source;
    };
    const fresh = `agent.session('ana').act('{button}Allow', 'click');\nben.act('{a}Get', 'click')`;
    t.equal(heal([allowed, done]), source.replace(`ben.act('{button}Buy', 'click')`, fresh));
    t.equal(heal([opened, allowed, done]), undefined, 'a browser that began with a login is not written without it');
  },
);
