import { join } from 'node:path';
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

t.test('a CSV file has the rows that it has in newman, but no value loses a character', { skip }, async (t) => {
  const server = await EchoServer.start();
  t.teardown(() => server.close());
  const collection = {
    info: { name: 'rows', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
    item: [
      {
        name: 'row',
        event: [
          script('prerequest', [
            'pm.environment.set("row" + pm.info.iteration, JSON.stringify(pm.iterationData.toObject()))',
          ]),
        ],
        request: `${server.origin}/get`,
      },
    ],
  };
  const rowsOf = async (csv: string) => {
    const data = join(t.testdir({ 'rows.csv': csv }), 'rows.csv');
    const [ours, theirs] = [await byTroupe({ collection, data }), await byNewman({ collection, data })];
    const texts = ({ environment }: typeof ours) => Object.values(environment).map((row) => JSON.parse(String(row)));
    return { ours: texts(ours), theirs: texts(theirs) };
  };
  for (const csv of [
    '\uFEFF"name" , id\r\n"Ada" ,7\r\n "x, ""y""\nz", -1.5 \r\n',
    'a,b\rtrue,null\rfalse,0x\r',
    'a,b\n7,"007"\n3" pipe,say "hi"\n,0.5\n',
    'a,b\n1,2\n3,4',
  ]) {
    const { ours, theirs } = await rowsOf(csv);
    t.strictSame(ours, theirs, JSON.stringify(csv));
    t.ok(ours.length > 1);
  }
  t.strictSame(await rowsOf('a,b\n9223372036854775807,+49301234567\n1.50,1e5\n007,.5\n\n6,\n7\n'), {
    ours: [
      { a: '9223372036854775807', b: '+49301234567' },
      { a: '1.50', b: '1e5' },
      { a: '007', b: '.5' },
      { a: 6, b: '' },
      { a: 7, b: '' },
    ],
    theirs: [
      { a: 9223372036854776000, b: 49301234567 },
      { a: 1.5, b: 100000 },
      { a: 7, b: 0.5 },
      { a: '' },
      { a: 6, b: '' },
      { a: 7 },
    ],
  });
  t.strictSame((await rowsOf('a;b\n1;2\n')).theirs, [{ 'a;b': '1;2' }]);
});
