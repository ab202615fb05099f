import t from 'tap';
import { Collection } from '#request-client/engine/collection/collection.js';
import { searchRequests } from '#request-client/window/search-requests.js';
import { guardLeaks } from '../../../test/support/leaks.js';

guardLeaks(t);

t.test('requests are found by name, address, header, body, and script, with all words of the search', async (t) => {
  const { items } = Collection.parse(
    JSON.stringify({
      info: { name: 'Shop' },
      item: [
        { name: 'List', request: { method: 'GET', url: { raw: 'https://shop.example/Orders' } } },
        {
          name: 'Folder',
          item: [
            {
              name: 'Create',
              request: {
                method: 'POST',
                url: 'https://shop.example/orders',
                header: [{ key: 'X-Trace', value: 'seven' }],
                body: { mode: 'raw', raw: '{"size": "large"}' },
              },
              event: [{ listen: 'test', script: { exec: ["pm.test('created', () => {});"] } }],
            },
          ],
        },
      ],
    }),
  );
  const found = (search: string): string[] => searchRequests(items, search).map(({ name }) => name);
  t.strictSame(found('orders'), ['List', 'Create']);
  t.strictSame(found('"SIZE": large'), ['Create']);
  t.strictSame(found('x-trace SEVEN'), ['Create']);
  t.strictSame(found("test('created'"), ['Create']);
  t.strictSame(found('list get'), ['List']);
  t.strictSame(found('orders nothing'), []);
  t.strictSame(found('  '), []);
});
