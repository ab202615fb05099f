import t from 'tap';
import { importCurl } from '#troupe/request-client/curl-import/import-curl.js';
import { guardLeaks } from '../../support/leaks.js';
import { browserForms } from './browser-forms.js';

guardLeaks(t);

/** What a row became, in the row's own words. */
function imported(text: string): unknown {
  const { requests, errors } = importCurl(text);
  const [request] = requests;
  if (request === undefined || requests.length > 1 || errors.length > 0) return { requests, errors };
  const { method, url, headers, body } = request;
  return {
    method,
    target: url.replace('http://capture.invalid', ''),
    headers: headers.map(({ name, value }) => [name, value]).sort(),
    body: body.kind === 'text' ? body.text : body.kind === 'none' ? null : body,
  };
}

// Of DevTools' copies for POSIX shells, bash and curl themselves are the judge: against-curl.test.ts.
for (const form of ['chrome-cmd', 'chrome-powershell', 'firefox-cmd', 'chrome-posix']) {
  t.test(`what a browser copies is the request that it made: ${form}`, async (t) => {
    const rows = browserForms.filter((row) => row.form === form);
    t.ok(rows.length > 30);
    for (const { name, text, method, target, headers, body } of rows) {
      t.strictSame(imported(text), { method, target, headers: [...headers].sort(), body }, name);
    }
  });
}

t.test('Copy all as cURL makes one request of each', async (t) => {
  for (const [form, joint] of [
    ['chrome-posix', ' ;\n'],
    ['chrome-cmd', ' &\r\n'],
    ['chrome-powershell', ';\r\n'],
  ] as const) {
    const texts = browserForms.filter((row) => row.form === form).map(({ text }) => text);
    const { requests, errors } = importCurl(texts.join(joint));
    t.strictSame(errors, [], form);
    t.strictSame(
      requests,
      texts.flatMap((text) => importCurl(text).requests),
      form,
    );
  }
});
