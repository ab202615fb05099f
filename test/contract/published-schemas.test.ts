import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { publishedSchemas } from '#troupe/gateway/openapi/published-schemas.js';
import { produceArtifacts } from '#troupe/report/artifact-writer.js';
import { failingEvents, failingRecord } from '../report/sample-session.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const schemaOf = (file: string) => JSON.parse(readFileSync(join('schemas', file), 'utf8'));

t.test(
  'The schemas in schemas/ are those of the protocol; `npm run build && npm run schemas` writes them',
  async (t) => {
    const schemas = publishedSchemas();
    t.same(readdirSync('schemas').sort(), Object.keys(schemas).sort());
    for (const [file, schema] of Object.entries(schemas)) {
      t.same(schemaOf(file), JSON.parse(JSON.stringify(schema)), file);
    }
  },
);

t.test('What a session leaves is valid by the published schemas', async (t) => {
  const ajv = new Ajv2020({ validateFormats: false });
  const dir = t.testdir({});
  await produceArtifacts(
    dir,
    failingRecord,
    (async function* () {
      yield failingEvents;
    })(),
  );
  const check = (file: string, value: unknown) => {
    const valid = ajv.compile(schemaOf(file));
    t.ok(valid(value), `${file}: ${JSON.stringify(valid.errors)}`);
    return valid;
  };
  check('report.schema.json', JSON.parse(readFileSync(join(dir, 'report.json'), 'utf8')));
  const lines = readFileSync(join(dir, 'transcript.jsonl'), 'utf8').trimEnd().split('\n');
  const line = check('transcript.schema.json', JSON.parse(lines[0] ?? ''));
  for (const text of lines) t.ok(line(JSON.parse(text)), JSON.stringify(line.errors));
  t.notOk(line({ seq: 1, at: 'now', type: 'NoSuchEvent', data: {} }));
  const event = check('event.schema.json', failingEvents[0]);
  t.notOk(event({ ...failingEvents[0], sessionId: undefined }));
});
