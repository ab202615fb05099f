import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import t from 'tap';
import { type JournalEvent, Troupe, TroupeError } from '#troupe/client/index.js';
import { scriptSource } from '#troupe/client/script-source.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

/** What a function that runs in a session sees there. */
declare const agent: { go(url: string): unknown; text(locator: string): string };

t.test('The client library drives a service', async (t) => {
  const service = await startTestService(t, { maxSessions: 2 });
  const troupe = new Troupe({ url: service.url });
  t.match(await troupe.health(), { status: 'ok' });
  t.same(await troupe.models(), []);
  const session = await troupe.sessions.create({ name: 'mine', labels: { team: 'a' } });

  await t.test('Scripts are text or functions, with arguments, and what they return is typed', async (t) => {
    const heading: string = await session.run(
      ({ title }: { title: string }) => {
        agent.go(`data:text/html,<h1>${title}</h1>`);
        return agent.text('h1');
      },
      { title: 'Hello "you"' },
    );
    t.equal(heading, 'Hello "you"');
    const again = await session.run<string>('agent.text("h1") + args.end', { end: '\u2028!' });
    t.equal(again, 'Hello "you"\u2028!');
    t.equal(await session.run('let kept = 1; kept'), 1);
    t.equal(await session.run(() => 'no arguments'), 'no arguments');
    t.equal(await session.run('undefined'), null);
    const hostile = JSON.parse('{"__proto__": {"a": 1}, "quote": "`</script>\\u2028"}');
    t.same(await session.run('JSON.stringify(args)', hostile), JSON.stringify(hostile));
    t.match(scriptSource('a\nb // c', 1), /^[^\n]*a\nb \/\/ c\n}$/, 'lines stay where they are');
  });

  await t.test('Errors have the code and the details of the service', async (t) => {
    const failed = session.run('\nagent.act("{button}None", "click", {timeout: 100})');
    await t.rejects(failed, { name: 'TroupeError', code: 'LOCATOR_NOT_FOUND', details: { line: 2 } });
    await t.rejects(troupe.sessions.get('zzzzzzzzzzzz').record(), { code: 'NOT_FOUND' });
    // @ts-expect-error an unknown field is refused by the compiler, too
    await t.rejects(troupe.sessions.create({ colour: 'red' }), { code: 'INVALID_REQUEST' });
    const none = new Troupe({ url: 'http://127.0.0.1:1', retries: 0 });
    const fault: unknown = await none.health().catch((error: unknown) => error);
    t.ok(fault instanceof TroupeError && fault.code === 'UNAVAILABLE', String(fault));
  });

  await t.test('A script that waits for a person is answered', async (t) => {
    const asked = session.run(`agent.handoff('Sign in').note`);
    await service.seen(session.id, 'HandoffRequested');
    t.match(await session.record(), { handoff: { text: 'Sign in' } });
    await session.answerHandoff('done', { note: 'signed in' });
    t.equal(await asked, 'signed in');
    await t.rejects(session.answerHandoff('done'), { code: 'NOT_FOUND' });
  });

  await t.test('Calls are cancelled by a signal, and end at a time limit', async (t) => {
    const abort = new AbortController();
    const call = session.run('agent.wait(9000)', undefined, { signal: abort.signal });
    abort.abort(new Error('enough'));
    await t.rejects(call, { message: 'enough' });
    await t.rejects(troupe.health({ signal: abort.signal }), { message: 'enough' });
    await t.rejects(session.wait({ timeoutMs: 1 }), { code: 'WAIT_TIMEOUT' });
    let sent = 0;
    const counting: typeof fetch = (...call) => {
      sent += 1;
      return fetch(...call);
    };
    const counted = new Troupe({ url: service.url, fetch: counting });
    await t.rejects(counted.health({ timeoutMs: 0 }), { code: 'UNAVAILABLE', message: /within 0 ms/ });
    t.equal(sent, 0, 'without time nothing is sent');
  });

  await t.test('Files go up and down', async (t) => {
    t.match(await session.files.put('a b.txt', 'text'), { name: 'a b.txt', bytes: 4, source: 'upload' });
    await session.files.put('bytes.bin', new Uint8Array([0, 255]));
    t.same((await session.files.list()).map(({ name }) => name).sort(), ['a b.txt', 'bytes.bin']);
    t.same(await session.files.get('bytes.bin'), new Uint8Array([0, 255]));
    await t.rejects(session.files.get('none'), { code: 'NOT_FOUND' });
    const { file } = await session.run<{ file: string }>('agent.screenshot("all")');
    t.same((await session.screenshot(file)).subarray(1, 4), Buffer.from('PNG'));
  });

  await t.test('Jobs and batches are waited for, and events come to the end', async (t) => {
    const job = await troupe.jobs
      .submit({ prompt: '', flowFiles: ['examples/none.js'], maxIterations: 0 })
      .catch((e) => e);
    t.match(job, { code: 'FLOW_NOT_FOUND' });
    const flows = { 'one.js': '1 + 1', 'two.js': 'match(1, 2)' };
    const task = (file: string) => ({ prompt: '', flowFiles: [file], maxIterations: 0 });
    const batch = await troupe.batches.submit({ flows, jobs: [task('one.js'), task('two.js')] });
    t.match(await batch.wait({ timeoutMs: 60_000 }), { state: 'failed', counts: { completed: 1, failed: 1 } });
    t.match(await batch.junit(), /<testsuites/);
    t.match(await batch.record(), { id: batch.id });
    const [one = '', two = ''] = batch.jobs;
    t.match(await troupe.jobs.get(one).wait(), { status: 'completed' });
    t.match(await troupe.jobs.get(two).wait(), { status: 'failed', error: { code: 'FLOW_FAILED' } });
    const events: JournalEvent[] = [];
    for await (const event of troupe.jobs.get(one).events()) events.push(event);
    t.equal(events[0]?.type, 'SessionAccepted');
    t.equal(events.at(-1)?.type, 'SessionEnded');
    const later: JournalEvent[] = [];
    for await (const event of troupe.jobs.get(one).events({ after: events[0]?.seq })) later.push(event);
    t.same(later, events.slice(1));
    t.equal((await buffer(await batch.download())).subarray(0, 2).toString(), 'PK');
    t.same((await troupe.sessions.list({ batch: batch.id, limit: 1 })).length, 1);
    const paged: string[] = [];
    for await (const { id } of troupe.sessions.all({ batch: batch.id, limit: 1, label: [] })) paged.push(id);
    t.same(paged.sort(), [...batch.jobs].sort(), 'page by page');
    const page = await fetch(`${service.url}/api/jobs?batch=${batch.id}&limit=1`);
    t.match(
      page.headers.get('link'),
      new RegExp(`^</api/jobs\\?batch=${batch.id}&limit=1&before=\\w{12}>; rel="next"$`),
    );
    await page.body?.cancel();
    t.same((await service.call('GET', `/api/jobs?batch=${batch.id}&limit=1000`)).headers.get('link'), null);
    await batch.stop({ purge: true });
  });

  await t.test('A lost answer makes no second session, and runs no script twice', async (t) => {
    let lose = 0;
    const sent: string[] = [];
    const losing: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      sent.push(`${init?.method} ${answer.status}`);
      if (lose-- <= 0) return answer;
      await answer.arrayBuffer();
      throw new TypeError('fetch failed');
    };
    const careful = new Troupe({ url: service.url, fetch: losing });
    lose = 2;
    const second = await careful.sessions.create({ name: 'lossy' });
    t.same(sent.splice(0), ['POST 201', 'POST 201', 'POST 201']);
    t.equal((await troupe.sessions.list({ state: 'running' })).length, 2);
    await second.run('var count = 0');
    lose = 1;
    await t.rejects(second.run('count += 1'), { code: 'UNAVAILABLE' });
    t.equal(await second.run('count'), 1);
    lose = 1;
    t.match(await second.record(), { name: 'lossy' }, 'what only reads is asked again');
    lose = 1;
    await second.stop();
    t.match(await second.record(), { status: 'stopped' });
    lose = 1;
    await second.stop({ purge: true });
    await t.rejects(second.record(), { code: 'NOT_FOUND' });
  });

  await t.test('The built file runs in a page', async (t) => {
    const library = await readFile('dist/client/index.js', 'utf8');
    t.notMatch(library, /^import |require\(/m, 'it needs no other');
    const site = createServer((request, response) => {
      const isLibrary = request.url === '/client.js';
      const isApi = request.url === '/api/health';
      response.setHeader('content-type', isLibrary ? 'text/javascript' : isApi ? 'application/json' : 'text/html');
      response.end(isLibrary ? library : isApi ? '{"status":"ok","version":"page"}' : '<title>Page</title>');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    t.teardown(() => site.close());
    const at = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const code = `import("/client.js").then(({ Troupe }) => new Troupe({ url: location.origin }).health())`;
    t.match(await session.run(`agent.go("${at}/"); agent.page(${JSON.stringify(code)})`), { version: 'page' });
  });

  await t.test('It is imported by its name', async (t) => {
    const script = `import { Troupe } from 'troupe/client'; console.log((await new Troupe({ url: '${service.url}' }).health()).status)`;
    const words = ['--input-type=module', '-e', script];
    t.equal((await promisify(execFile)(process.execPath, words)).stdout, 'ok\n');
  });

  await session.stop();
  await session.stop();
  t.match(await session.wait(), { status: 'stopped' });
});

t.test('Events after a broken connection are neither lost nor repeated', async (t) => {
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    const last = Number(request.headers['last-event-id'] ?? 0);
    asked.push(last);
    if (last >= 6) return void response.writeHead(204).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const seq of [last + 1, last + 2])
      response.write(`: hi\nid: ${seq}\r\ndata: {"seq": ${seq},\ndata: "type": "é"}\n\n`);
    // In the middle of an event.
    response.write(`id: ${last + 3}\ndata: {"seq"`, () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const troupe = new Troupe({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const seqs: number[] = [];
  for await (const { seq } of troupe.sessions.get('x').events()) seqs.push(seq);
  t.same(seqs, [1, 2, 3, 4, 5, 6]);
  t.same(asked, [0, 2, 4, 6]);
});

t.test('A stream with an event that cannot be taken fails, and is not opened again', async (t) => {
  const piece = new Uint8Array(8 * 1024 * 1024).fill(97);
  const streams: { readonly [code: string]: (stream: ReadableStreamDefaultController, pulls: number) => void } = {
    BODY_TOO_LARGE: (stream, pulls) => stream.enqueue(pulls === 1 ? new TextEncoder().encode('id: 1\ndata: ') : piece),
    INVALID_JSON: (stream) => stream.enqueue(new TextEncoder().encode('id: 1\ndata: {"seq"\n\n')),
  };
  for (const [code, pull] of Object.entries(streams)) {
    let calls = 0;
    const fetch = async (): Promise<Response> => {
      calls += 1;
      let pulls = 0;
      return new Response(new ReadableStream({ pull: (stream) => pull(stream, ++pulls) }));
    };
    const signal = AbortSignal.timeout(60_000);
    const events = new Troupe({ fetch }).sessions.get('x').events({ signal });
    await t.rejects(events.next(), { code });
    t.equal(calls, 1, code);
  }
});

t.test('A stream of events that was idle for long is opened again when it breaks', async (t) => {
  const { now } = performance;
  let later = 0;
  performance.now = () => now.call(performance) + later;
  t.teardown(() => {
    performance.now = now;
  });
  const encoder = new TextEncoder();
  const event = (id: number) => encoder.encode(`id: ${id}\ndata: {"seq":${id},"type":"x"}\n\n`);
  let calls = 0;
  const fetch = async (): Promise<Response> => {
    calls += 1;
    if (calls === 2) throw new TypeError('refused');
    if (calls === 4) return new Response(null, { status: 204 });
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(event(calls)),
      pull(stream) {
        if (calls > 1) stream.close();
        else stream.error(new TypeError('broken'));
      },
    });
    return new Response(body);
  };
  const seen: unknown[] = [];
  const troupe = new Troupe({ url: 'http://127.0.0.1:1', fetch });
  for await (const { seq } of troupe.sessions.get('a').events()) {
    seen.push(seq);
    later += 3_600_000;
  }
  t.same(seen, [1, 3]);
});
