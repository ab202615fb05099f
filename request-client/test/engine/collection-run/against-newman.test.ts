import t from 'tap';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { EchoServer } from '../../echo-server.js';
import { installNewman } from '../../newman.js';
import { byNewman, byTroupe, differences } from './beside-newman.js';
import { PROBES } from './postman-probes.js';

guardLeaks(t);

const script = (listen: string, lines: readonly string[]): object => ({ listen, script: { exec: lines } });

/** Keeps the value of each probe, or the name of its error, in a variable of the environment. */
function probing(prefix: string, probes: readonly string[]): string[] {
  return probes.map(
    (probe, index) =>
      `try { const v = ${probe}; pm.environment.set('${prefix}${index}', 'v ' + JSON.stringify(v)); } catch (e) { pm.environment.set('${prefix}${index}', 'threw ' + e.name); }`,
  );
}

const skip = await installNewman();

t.test('every feature of the sandbox gives what it gives in newman', { skip }, async (t) => {
  const server = await EchoServer.start();
  t.teardown(() => server.close());
  const wanted = {
    collection: {
      info: { name: 'probes', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
      variable: [
        { key: 'base', value: server.origin },
        { key: 'cv', value: 'of collection' },
      ],
      item: [
        {
          name: 'folder',
          item: [
            {
              name: 'probe',
              event: [script('prerequest', probing('b', PROBES.prerequest)), script('test', probing('a', PROBES.test))],
              request: {
                method: 'POST',
                url: {
                  raw: '{{base}}/post?q=1&r=2',
                  host: ['{{base}}'],
                  path: ['post'],
                  query: [
                    { key: 'q', value: '1' },
                    { key: 'r', value: '2' },
                  ],
                },
                header: [
                  { key: 'X-Kind', value: 'probe' },
                  { key: 'Content-Type', value: 'application/json' },
                ],
                body: { mode: 'raw', raw: '{"a":1}' },
              },
            },
          ],
        },
      ],
    },
    environment: { who: 'ada' },
    data: [{ row: 'one' }],
  };
  const [ours, theirs] = [await byTroupe(wanted), await byNewman(wanted)];
  t.strictSame(differences(ours, theirs), []);
  const probes = [
    ...PROBES.prerequest.map((text, i) => [`b${i}`, text]),
    ...PROBES.test.map((text, i) => [`a${i}`, text]),
  ];
  t.ok(probes.length >= 150, `${probes.length} probes`);
  const differing = probes.flatMap(([key = '', text = '']) => {
    const [us, them] = [ours.environment[key], theirs.environment[key]];
    return us === them ? [] : [{ text, us, newman: them }];
  });
  t.strictSame(differing, []);
});
