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
