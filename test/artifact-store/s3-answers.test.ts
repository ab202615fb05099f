import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { S3Store } from '#troupe/artifact-store/s3-store.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

type Answer = (response: ServerResponse, request: IncomingMessage) => void;
const SECRET = 'wJalrXUtnFEMI-secret';

/** A store whose server answers as the test says; one that checks signatures is in `s3-store.test.ts`. */
async function storeThatGets(t: Test, answer: Answer) {
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => answer(response, request));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return new S3Store({
    kind: 's3',
    bucket: 'artifacts',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    prefix: '',
    keys: { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: SECRET, sessionToken: 'a-session-token' },
  });
}

const failure = (code: string, status: number) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>Because.</Message></Error>`);
};
const page = (status: number, text: string) => (response: ServerResponse) => {
  response.writeHead(status);
  response.end(text);
};
const cutList = '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>';

async function errorOf(work: Promise<unknown>): Promise<TroupeError> {
  const error = await work.then(
    () => new Error('it succeeded'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof TroupeError) return error;
  throw error;
}

t.test('What a bucket may answer is one sentence with its remedy, without the keys', async (t) => {
  const cases: readonly (readonly [Answer, RegExp])[] = [
    [failure('NoSuchBucket', 404), /does not exist; create it, or correct "artifacts.s3.bucket"/],
    [failure('InvalidAccessKeyId', 403), /refuses the keys \(InvalidAccessKeyId\); correct AWS_ACCESS_KEY_ID/],
    [failure('ExpiredToken', 400), /refuses the keys \(ExpiredToken\)/],
    [failure('AccessDenied', 403), /do not allow it \(AccessDenied\); they need s3:GetObject/],
    [failure('PermanentRedirect', 301), /in another region/],
    [failure('RequestTimeTooSkewed', 403), /clock is wrong/],
    [failure('SlowDown', 503), /answers 503 \(SlowDown: Because.\)/],
    [page(403, 'Forbidden'), /refuses the keys \(403\)/],
    [page(404, 'Not here'), /does not exist \(404\)/],
    [page(502, '<html>Bad gateway</html>'), /answers 502/],
    [page(200, '<html>Welcome</html>'), /does not answer as S3 does; check "artifacts.s3.endpoint"/],
    [page(200, cutList), /list is cut off/],
    [(response) => response.destroy(), /does not answer \(.*\); check that it runs/],
  ];
  for (const [answer, expected] of cases) {
    const store = await storeThatGets(t, answer);
    const error = await errorOf(store.list('one'));
    t.equal(error.code, 'UNAVAILABLE');
    t.match(error.message, expected);
    t.notMatch(`${error.stack} ${JSON.stringify(error)}`, new RegExp(`${SECRET}|a-session-token`));
  }
});

t.test('A content that is cut off, or is another than was opened, does not look complete', async (t) => {
  const bodies: Answer[] = [
    (response) => {
      response.writeHead(206, { 'content-length': 10 });
      response.write('12345', () => response.destroy());
    },
    (response) => {
      response.writeHead(206);
      response.end('12345');
    },
    failure('PreconditionFailed', 412),
  ];
  for (const body of bodies) {
    const store = await storeThatGets(t, (response, request) => {
      if (request.method === 'GET') return body(response, request);
      response.writeHead(200, { 'content-length': 10, etag: '"one"', 'last-modified': new Date(0).toUTCString() });
      response.end();
    });
    const opened = await store.open({ session: 'one', path: 'a' });
    t.equal(opened?.bytes, 10);
    await t.rejects(buffer(opened?.open() ?? Readable.from([])), { code: 'UNAVAILABLE' });
  }
});

t.test(
  'An upload that is given up has ended at the server too: what is removed afterwards stays removed',
  async (t) => {
    const seen: string[] = [];
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    let answerPut = () => {};
    const store = await storeThatGets(t, (response, request) => {
      answerPut = () => {
        seen.push(`${request.method} is answered`);
        response.writeHead(200, { etag: '"one"' });
        response.end();
      };
      arrived();
    });
    const giveUp = new AbortController();
    const content = Readable.from([Buffer.from('content')], { objectMode: false });
    const putting = store
      .put({ session: 'one', path: 'a' }, content, { bytes: 7, signal: giveUp.signal })
      .catch((error: unknown) => seen.push(`given up: ${error}`));
    await arrival;
    giveUp.abort('removed');
    setImmediate(() => answerPut());
    await putting;
    t.same(seen, ['PUT is answered', 'given up: removed']);
  },
);
