import { closeSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';
import { listFiles, MAX_SESSION_UPLOAD_BYTES, MAX_UPLOADS, storeUpload } from '#troupe/supervisor/session-files.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('the uploads of a session are bounded in bytes and in number, and a replaced one counts once', async (t) => {
  const dir = t.testdir({});
  const large = openSync(join(dir, 'large'), 'w');
  ftruncateSync(large, MAX_SESSION_UPLOAD_BYTES - 2);
  closeSync(large);
  await storeUpload(dir, 'two', Readable.from(['12']));
  await storeUpload(dir, 'two', Readable.from(['21']));
  await t.rejects(storeUpload(dir, 'more', Readable.from(['1'])), { code: 'BODY_TOO_LARGE', details: { files: 3 } });
  await storeUpload(dir, 'large', Readable.from(['small now']));
  t.match(await listFiles({ downloadsDir: dir, uploadsDir: null }), [{ name: 'large', bytes: 9 }, { name: 'two' }]);
  for (let n = 2; n < MAX_UPLOADS; n += 1) writeFileSync(join(dir, `file ${n}`), '');
  await t.rejects(storeUpload(dir, 'one more', Readable.from(['1'])), { code: 'BODY_TOO_LARGE' });
});
