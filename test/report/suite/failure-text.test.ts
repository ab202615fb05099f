import t from 'tap';
import { Failure } from '#troupe/protocol/report/failure.js';
import { evidenceRows } from '#troupe/report/html/evidence-rows.js';
import { failureText } from '#troupe/report/suite/failure-text.js';
import { nextSteps } from '#troupe/report/suite/next-steps.js';
import { guardLeaks } from '../../support/leaks.js';
import { FAILURE } from './suite-fixture.js';

guardLeaks(t);

const failed = (changes: Partial<Failure>): Failure =>
  Failure.parse({ code: 'MATCH_FAILED', message: 'm', ...changes });
const count = (text: string, part: string) => text.split(part).length - 1;

t.test('A received value that did not change is said once, with how long it stood', async (t) => {
  const failure = failed({
    message: '#pieces should have the text "12", but it has "loading" (waited 1500 ms)',
    expected: '12',
    received: 'loading',
    history: [{ value: 'loading', fromMs: 20 }],
    waitedMs: 1520,
  });
  const text = failureText(failure);
  t.match(text, 'MATCH_FAILED: #pieces should have the text "12", but it has "loading" (unchanged for 1.5 s)');
  t.equal(count(text, 'loading'), 1, text);
  const rows = new Map(evidenceRows(failure, 1000));
  t.match(rows.get('Received'), /loading<\/code> \(unchanged for 1\.5 s\)$/);
  t.notOk(rows.has('While it waited'));
});

t.test('Values that begin alike are shown one below the other, and a value that changed with its past', async (t) => {
  const price = {
    message: '.total should have the text "€39.90", but it has "€34.90" (waited 300 ms)',
    expected: '€39.90',
    received: '€34.90',
    waitedMs: 300,
  };
  const alike = failureText(failed({ ...price, history: [{ value: '€34.90', fromMs: 0 }] }));
  t.match(alike, /\(unchanged for 300 ms\)\nExpected: €39\.90\nReceived: €34\.90\n +\^/);
  t.notMatch(alike, 'While it waited');
  const history = [
    { value: 'loading', fromMs: 0 },
    { value: '€34.90', fromMs: 200 },
  ];
  t.match(
    failureText(failed({ ...price, history })),
    /\(waited 300 ms\)[\s\S]*While it waited: "loading" for 200 ms, then "€34\.90" for 100 ms/,
  );
  const elsewhere = failed({ message: 'agent.until: nothing', expected: 'a value', received: 'false' });
  t.match(failureText(elsewhere), 'Expected: a value\nReceived: false', 'what the message does not say is said');
});

t.test('What to do next begins with what the page itself says is wrong', async (t) => {
  t.same(nextSteps({ ...FAILURE, console: [{ text: 'TypeError: x', url: '', step: 3 }] }), [
    'The page threw an error in step 3: the flow may be right, look there first',
    'POST http://127.0.0.1:4500/api/pay was answered with 500: look at the log of its server',
    'If the page is right, change the locator: {button}Pay',
  ]);
  const { console: _, requests: __, ...quiet } = FAILURE;
  t.same(nextSteps(quiet), [
    'If the page is right, change the locator: {button}Pay',
    'See the page as the step left it: troupe run flows/shop/pay.js --pause (it waits for a person)',
  ]);
  const pending = { requests: [], timers: [{ ms: 3000, repeats: false }] };
  const said: readonly (readonly [Partial<Failure>, RegExp])[] = [
    [{ pending }, /more time, as in \{timeout: 20000\}/],
    [{ elsewhere: true }, /elsewhere on the page/],
    [{ code: 'LOCATOR_NOT_FOUND', seenAtStep: 2 }, /there in step 2: see what has removed it/],
    [{ code: 'LOCATOR_AMBIGUOUS' }, /only one element matches/],
    [{ code: 'LOCATOR_STALE' }, /agent\.look\(\) after/],
    [{ code: 'ACTION_FAILED', message: '{a}x is covered by {div}y' }, /Close what covers/],
    [{ code: 'ACTION_FAILED', message: 'A dialog is open (alert: "a")' }, /Answer the dialog/],
    [{ code: 'HARD_TIMEOUT' }, /--timeout/],
    [{ code: 'SCRIPT_ERROR', file: 'flows/a.js' }, /troupe flow check flows\/a\.js/],
    [{ code: 'INTERRUPTED' }, /--retries/],
  ];
  for (const [changes, words] of said) t.match(nextSteps(failed(changes))[0], words, JSON.stringify(changes));
  t.same(nextSteps(failed({})), [], 'where nothing is known nothing is guessed');
});
