import t from 'tap';
import { importCurl } from '#request-client/curl/import/import-curl.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { browserForms } from './browser-forms.js';

guardLeaks(t);

/** The import of a row, in the form of the row. */
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

// DevTools' copies for POSIX shells are compared with bash and curl themselves: against-curl.test.ts.
for (const form of ['chrome-cmd', 'chrome-powershell', 'firefox-cmd', 'chrome-posix']) {
  t.test(`a command copied by a browser gives the browser's request: ${form}`, async (t) => {
    const rows = browserForms.filter((row) => row.form === form);
    t.ok(rows.length > 30);
    for (const { name, text, method, target, headers, body } of rows) {
      t.strictSame(imported(text), { method, target, headers: [...headers].sort(), body }, name);
    }
  });
}

t.test('Copy all as cURL gives one request for each', async (t) => {
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
