import { join } from 'node:path';
import t from 'tap';
import { Collection } from '#request-client/engine/collection/collection.js';
import { CollectionFile } from '#request-client/engine/collection/collection-file.js';
import { CollectionRunner } from '#request-client/engine/collection-run/collection-runner.js';
import { readForm, writeForm } from '#request-client/engine/forms/request-form.js';
import { TokenStore } from '#request-client/engine/oauth/token-store.js';
import { addImported } from '#request-client/formats/imports/add-imported.js';
import { importAny } from '#request-client/formats/imports/import-any.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { browserForms } from '../../curl/import/browser-forms.js';
import { installNewman, runNewman } from '../../newman.js';
import { WireCapture, type WireRequest } from '../../wire-capture.js';

guardLeaks(t);

const OWN = /^(?:user-agent|accept|accept-encoding|connection|cache-control|postman-token|content-length|host)$/i;

/** The content of a request, without what each runner adds about itself. */
function said({ method, target, headers, body }: WireRequest): unknown {
  const named = headers.filter(([name]) => !OWN.test(name)).map(([name, value]) => `${name.toLowerCase()}: ${value}`);
  return { method, target, headers: named.sort(), body };
}

const skip = await installNewman();

t.test('Newman runs a saved collection, and sends the same as the client', { skip }, async (t) => {
  const capture = await WireCapture.start();
  t.teardown(() => capture.close());
  const rows = browserForms.filter(({ form, name }) => form === 'chrome-posix' && name !== 'pseudo headers');
  let collection = Collection.create('From browsers', 'id').set(
    ['event'],
    [{ listen: 'test', script: { exec: ['pm.test("answered", () => pm.response.to.have.status(200));'] } }],
  );
  for (const [index, { text }] of rows.entries()) {
    collection = addImported(
      collection,
      importAny(text.replace('http://capture.invalid', `${capture.origin}/n${index}`)),
    );
  }
  // As the window edits them: the requests stay the same.
  for (const { path: place } of collection.items)
    collection = writeForm(
      collection,
      place,
      readForm(collection, place, () => ''),
    );
  const path = join(t.testdir({}), 'saved.json');
  await CollectionFile.create(path, collection).save();

  const summary = await runNewman({ collection: path, reporters: [] });
  t.strictSame(
    summary.run.failures.map(({ error }) => error.message),
    [],
  );
  t.equal(summary.run.stats.requests.total, rows.length);
  const byNewman = capture.take();

  const { collection: opened } = await CollectionFile.open(path);
  const tokens = new TokenStore({ openBrowser: async () => undefined });
  const runner = new CollectionRunner({ collection: opened, environment: new Map(), folder: '.', tokens });
  t.teardown(() => runner.close());
  await runner.runAll(opened.items, async ({ tests, response }) => {
    await response?.dispose();
    t.match(tests, [{ status: 'passed' }]);
    return undefined;
  });
  const byUs = capture.take();
  for (const [index, { name }] of rows.entries()) {
    const [newmans, ours] = [byNewman, byUs].map((kept) => kept.get(`n${index}`)?.map(said));
    t.strictSame(newmans, ours, name);
  }
});
