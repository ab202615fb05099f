import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { JournalEvent } from '#troupe/protocol/events.js';
import { Report } from '#troupe/protocol/report/report.js';
import type { SessionRecord } from '#troupe/protocol/session.js';
import { ReportPool } from '#troupe/report/report-pool.js';
import { junitFaults } from '../support/junit-shape.js';
import { guardLeaks } from '../support/leaks.js';
import {
  asStream,
  failingEvents,
  failingRecord,
  journaled,
  passingEvents,
  sampleRecord,
  writePictures,
} from './sample-session.js';

guardLeaks(t);

const pool = new ReportPool();
t.teardown(() => pool.close());

/** The artifacts of a session, by name. */
async function made(test: Test, record: SessionRecord, events: readonly JournalEvent[], pictures = true) {
  const dir = join(test.testdir({}), 'sessions', record.id);
  if (pictures) await writePictures(dir, events);
  await pool.produce(dir, record, asStream(events));
  const read = (name: string) => readFile(join(dir, name), 'utf8');
  return { dir, read, html: await read('report.html'), junit: await read('report.junit.xml') };
}

t.test('A failing job has its artifacts, with the failure first and all in one file', async (t) => {
  const { dir, read, html, junit } = await made(t, failingRecord, failingEvents);
  const lines = (await read('transcript.jsonl')).trimEnd().split('\n');
  t.same(
    lines.map((line) => Object.keys(JSON.parse(line))),
    failingEvents.map(() => ['seq', 'at', 'type', 'data']),
  );
  t.same(JSON.parse(await read('session.json')), failingRecord);
  const report = Report.parse(JSON.parse(await read('report.json')));
  t.same(
    report.artifacts.slice(0, 3).map(({ path }) => path),
    ['session.json', 'transcript.jsonl', 'screenshots/001-step.png'],
  );
  t.same(
    (await readdir(dir)).filter((name) => name.startsWith('.')),
    [],
    'nothing half written is left',
  );

  t.equal(html.match(/src="data:image\/png;base64,/g)?.length, 7, 'each picture is there, once');
  t.notMatch(
    html,
    /<script|(?:src|href)="(?!data:|#|http:\/\/127\.0\.0\.1:4500\/|session\.json|transcript\.jsonl|screenshots\/)/,
  );
  const order = [
    'id="failures"',
    'pill bad">LOCATOR_NOT_FOUND',
    'flows/shop/buy.js:9:7',
    'data:image',
    '<h2>Flows',
    'id="steps"',
  ];
  const places = order.map((text) => html.indexOf(text, html.indexOf('<body>')));
  t.same(
    places,
    [...places].sort((a, b) => a - b),
  );
  t.notMatch(places, [-1]);

  t.same(await junitFaults(join(dir, 'report.junit.xml')), []);
  t.match(junit, 'tests="3" failures="1" errors="1" skipped="0" time="9.500"');
  t.match(junit, /<failure type="LOCATOR_NOT_FOUND" message="No visible element/);
  for (const text of [
    'at flows/shop/buy.js:9:7',
    'Page: http://127.0.0.1:4500/lamps/3?layout=b',
    'screenshots/007-step.png',
  ]) {
    t.ok(junit.includes(text), text);
  }
});

t.test('A passing job is all green, and its test cases are its flows', async (t) => {
  const { dir, html, junit } = await made(t, sampleRecord(), passingEvents);
  t.notMatch(html, 'id="failures"');
  t.match(html, '2 of 2 passed');
  t.match(junit, 'tests="2" failures="0" errors="0"');
  t.match(junit, '<testcase name="shop/login" classname="Nightly: buy a lamp" time="1.730">');
  const [, bought = ''] = /<testcase name="shop\/buy".*?<system-out>(.*?)<\/system-out>/s.exec(junit) ?? [];
  const pictures = bought.split('\n');
  t.same(
    pictures,
    ['5', '6', '7'].map((n) => `screenshots/00${n}-step.png`),
    'also those of flows that it called',
  );
  t.same(await junitFaults(join(dir, 'report.junit.xml')), []);
});

t.test('A picture that was taken too late is linked to, and shown as no step’s own', async (t) => {
  const late = passingEvents.map((event) =>
    event.type === 'StepFinished' && event.data.index === 6
      ? { ...event, data: { ...event.data, screenshotStep: 7 } }
      : event,
  );
  const { html, junit } = await made(t, sampleRecord(), late);
  t.match(html, '<a href="screenshots/006-step.png">One taken at step 7</a>');
  t.match(html, 'alt="The page after step 5"');
  t.notMatch(html, 'alt="The page after step 6"');
  t.notMatch(junit, '006-step.png');
});

t.test('A session that ended without a flow to blame has a test case that says why', async (t) => {
  const error = { code: 'WORKER_LOST', error: 'The browser of the session is gone: killed' } as const;
  const record = sampleRecord({ status: 'failed', state: 'failed', error, flowFiles: [], name: null });
  const { html, junit } = await made(
    t,
    record,
    journaled([{ ms: 5, type: 'BrowserLost', data: { reason: 'killed' } }]),
  );
  t.match(junit, 'tests="1" failures="0" errors="1"');
  t.match(junit, /<testcase name="session" classname="troupe" time="9.500"><error type="WORKER_LOST"/);
  t.match(html, /WORKER_LOST.*The run failed/s);
});

t.test('A job that was stopped is an error in JUnit, whether or not it had flows', async (t) => {
  const stopped = { status: 'stopped', state: 'stopped', endReason: 'deleted' } as const;
  for (const flowFiles of [[], ['shop/login.js', 'shop/buy.js']]) {
    const { junit } = await made(t, sampleRecord({ ...stopped, flowFiles }), journaled([]));
    t.match(junit, `tests="${flowFiles.length || 1}" failures="0" errors="${flowFiles.length || 1}" skipped="0"`);
  }
});

t.test('A flow that was cut off is an error in JUnit', async (t) => {
  const error = { code: 'INTERRUPTED', error: 'The service was stopped while the flow ran' } as const;
  const record = sampleRecord({ status: 'failed', state: 'failed', error, flowFiles: ['shop/login.js'] });
  const events = journaled([{ ms: 5, type: 'FlowStarted', data: { path: 'shop/login', depth: 1 } }]);
  const { junit } = await made(t, record, events);
  t.match(junit, /<testcase name="shop\/login"[^>]*><error type="INTERRUPTED"/);
});

t.test('What pages and scripts say is shown as text, whatever it is', async (t) => {
  const evil = `</style></script><script>alert(1)</script><img src=x onerror=alert(1)>"'&]]>\u0000\u001b[31m\u202e\ud800`;
  const error = { code: 'SCRIPT_ERROR', error: evil, details: { url: evil, title: evil, flow: evil } } as const;
  const record = sampleRecord({
    name: evil,
    prompt: evil,
    summary: evil,
    status: 'failed',
    state: 'failed',
    error,
    labels: { [evil]: evil },
    flowFiles: [`${evil}.js`],
  });
  const where = { flow: evil, line: 1, column: 1 };
  const { dir, read, html, junit } = await made(
    t,
    record,
    journaled([
      { ms: 1, type: 'FlowStarted', data: { path: evil, depth: 1 } },
      {
        ms: 2,
        type: 'AssertionChecked',
        data: { ok: false, message: evil, failures: [{ path: evil, message: evil }], ...where },
      },
      { ms: 3, type: 'ConsoleWritten', data: { level: 'error', text: evil } },
      { ms: 4, type: 'PageErrorLogged', data: { text: evil, url: 'javascript:alert(1)' } },
      {
        ms: 5,
        type: 'StepFinished',
        data: {
          index: 1,
          kind: 'flow',
          js: evil,
          result: evil,
          error,
          url: 'javascript:alert(1)',
          title: evil,
          durationMs: 1,
          screenshot: '../../../../etc/passwd',
          ...where,
        },
      },
      {
        ms: 6,
        type: 'FlowFinished',
        data: {
          path: evil,
          depth: 1,
          status: 'failed',
          durationMs: 5,
          error: { ...error, code: 'MATCH_FAILED' },
          ...where,
        },
      },
    ]),
    false,
  );
  t.equal(html.match(/<script|<img|onerror=alert\(1\)>"/g), null);
  t.notMatch(html, 'href="javascript:');
  t.notMatch(html, 'root:');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
  t.notMatch(html + junit, /[\u0000\u001b\u202e]/);
  t.same(await junitFaults(join(dir, 'report.junit.xml')), []);
  t.match(await read('report.junit.xml'), 'type="MATCH_FAILED"');
  t.equal(Report.parse(JSON.parse(await read('report.json'))).summary, evil);
});

t.test('A hundred thousand events are written while the main thread stays free', async (t) => {
  const events = (function* () {
    for (let index = 1; index <= 100_000; index += 1) {
      const data = {
        index,
        kind: 'script',
        js: `agent.go("/${index}")`,
        result: { n: index },
        url: 'http://x/',
        title: 't',
        durationMs: 2,
        screenshot: null,
      } as const;
      yield* journaled([{ ms: index, type: 'StepFinished', data }]).map((event) => ({ ...event, seq: index }));
    }
  })();
  const dir = t.testdir({});
  let turns = 0;
  const watch = setInterval(() => turns++);
  await pool.produce(dir, sampleRecord({ flowFiles: [] }), asStream(events));
  clearInterval(watch);
  t.ok(turns > 200, `other work had its turn ${turns} times`);
  const html = await readFile(join(dir, 'report.html'), 'utf8');
  t.match(html, '98,000 steps not shown');
  t.ok(html.length < 4_000_000);
  t.equal((await readFile(join(dir, 'transcript.jsonl'), 'utf8')).trimEnd().split('\n').length, 100_000);
});

t.test('Events that cannot be read fail the call with their own error and leave the old files', async (t) => {
  const { dir, read } = await made(t, sampleRecord(), passingEvents);
  const broken = async function* (): AsyncGenerator<JournalEvent> {
    yield* failingEvents;
    throw new RangeError('the journal is gone');
  };
  await t.rejects(pool.produce(dir, failingRecord, broken()), {
    message: 'the journal is gone',
  });
  t.match(await read('report.html'), '· passed</title>');
  t.equal((await read('transcript.jsonl')).trimEnd().split('\n').length, passingEvents.length);
  t.same(
    (await readdir(dir)).filter((name) => name.startsWith('.')),
    [],
  );
});

t.test('A folder that cannot be written is an error that names it, and the pool goes on', async (t) => {
  const dir = join(t.testdir({ file: 'in the way' }), 'file');
  await t.rejects(pool.produce(dir, sampleRecord(), asStream(passingEvents)), {
    code: 'UNAVAILABLE',
    message: /EEXIST|ENOTDIR/,
  });
  const { html } = await made(t, sampleRecord(), passingEvents);
  t.match(html, '· passed</title>');
});

t.test('Threads that cannot start fail every report that waits for them, by name', async (t) => {
  const broken = new ReportPool(new URL('./gone.thread.js', import.meta.url));
  t.teardown(() => broken.close());
  const reports = [1, 2, 3].map((number) =>
    broken.produce(join(t.testdirName, `${number}`), sampleRecord(), asStream(passingEvents)),
  );
  const message = /^The report failed: The report thread could not start: Cannot find module/;
  for (const report of reports) await t.rejects(report, { code: 'UNAVAILABLE', message });
});

t.test('A closed pool refuses, and closing it waits for the report under way', async (t) => {
  const closing = new ReportPool();
  const dir = t.testdir({});
  const writing = closing.produce(dir, sampleRecord(), asStream(passingEvents));
  await Promise.all([closing.close(), closing.close()]);
  await writing;
  t.ok((await readdir(dir)).includes('report.html'));
  await rm(dir, { recursive: true });
  await t.rejects(closing.produce(dir, sampleRecord(), asStream(passingEvents)), {
    code: 'UNAVAILABLE',
  });
});
