import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { type RecordedCall, startRecorder, startReplay } from '../support/model-recording.js';
import { done, evaluate, type Turn } from '../support/model-server.js';
import { openLoops } from './loop-fixture.js';

guardLeaks(t);

t.test('a model behind a provider that fails', async (t) => {
  const { run } = await openLoops(t);
  const well = done(true, 'well');

  await t.test('429 and 5xx are tried again, after Retry-After or twice as long each time', async (t) => {
    const { end, waits, told, conversation } = await run([
      { kind: 'status', status: 429, retryAfter: '7' },
      { kind: 'status', status: 500 },
      { kind: 'status', status: 503 },
      well,
    ]);
    t.match(end, { success: true });
    t.same(waits, [7000, 1000, 2000]);
    t.equal(conversation.turns.length, 1, 'a try is no iteration');
    const tries = told('ModelCallFinished');
    t.match(tries, [
      { call: 1, attempt: 1, error: { code: 'MODEL_ERROR', details: { status: 429 } }, retryInMs: 7000 },
      { attempt: 2 },
      { attempt: 3 },
      { attempt: 4, toolCalls: [{ name: 'done' }] },
    ]);
    t.equal(told('ModelCallStarted').length, 4);
  });

  await t.test('Retry-After may be an instant', async (t) => {
    const retryAfter = new Date(Date.now() + 30_000).toUTCString();
    const before = performance.now();
    const { waits } = await run([{ kind: 'status', status: 429, retryAfter }, well]);
    t.ok(
      waits[0] !== undefined && waits[0] > 28_000 - (performance.now() - before) && waits[0] <= 30_000,
      String(waits),
    );
  });

  await t.test('a cut stream, bad JSON, silence and a drip are tried again, and nothing of them is run', async (t) => {
    const turns: Turn[] = [{ kind: 'cut' }, { kind: 'garbage' }, { kind: 'hang' }, { kind: 'drip', everyMs: 20 }, well];
    const { end, told, model } = await run(turns, { bounds: { silenceMs: 400, answerMs: 1_500 } });
    t.match(end, { success: true });
    t.match(
      told('ModelCallFinished').map(({ error }) => error?.error),
      [String, String, /said nothing for 400 ms/, /did not answer within 1500 ms/, undefined],
    );
    t.same(told('ToolAnswered'), []);
    t.equal(model.requests.length, 5);
  });

  await t.test('who fails five times, or refuses, gives way to the next model, for good', async (t) => {
    const failing = (): Turn => ({ kind: 'status', status: 502 });
    const five = await run(failing, { fallbacks: [[evaluate('1'), well]] });
    t.match(five.end, { success: true });
    t.same(
      five.servers.map(({ requests }) => requests.length),
      [5, 2],
    );
    const refusing = await run([{ kind: 'status', status: 404, message: 'no such model' }], { fallbacks: [[well]] });
    t.match(refusing.end, { success: true });
    t.same(refusing.waits, []);
    const patient: Turn = { kind: 'status', status: 429, retryAfter: '3600' };
    t.same((await run([patient], { fallbacks: [[well]] })).waits, [], 'nobody waits an hour who has another model');
  });

  await t.test(
    'a provider that asks to wait for longer than a minute is not waited for, and the error says so',
    async (t) => {
      const day = await run([{ kind: 'status', status: 429, retryAfter: '86400' }, well]);
      t.same(day.waits, []);
      t.match(day.end, {
        thrown: {
          code: 'MODEL_ERROR',
          error: /asks to wait 86400 s/,
          details: { status: 429, retryAfterMs: 86_400_000 },
        },
      });
      t.match(day.told('ModelCallFinished'), [{ retryInMs: null, error: { error: /86400 s/ } }]);
      const minute = await run([{ kind: 'status', status: 503, retryAfter: '60' }, well]);
      t.match([minute.waits, minute.end], [[60_000], { success: true }]);
    },
  );

  await t.test('when no model answers, the task ends with MODEL_ERROR, its status and no key', async (t) => {
    const none = await run([], { apiKey: 'sk-very-secret-key', server: { apiKey: 'another' } });
    t.match(none.end, { thrown: { code: 'MODEL_ERROR', error: /Incorrect API key/, details: { status: 401 } } });
    t.notMatch(JSON.stringify(none.events), /very-secret/);
    const worst = await run(() => ({ kind: 'status', status: 500 }));
    t.match(worst.end, { thrown: { code: 'MODEL_ERROR', details: { status: 500 } } });
    t.equal(worst.model.requests.length, 5);
  });

  await t.test(
    'the key goes to the provider, and a provider that refuses stream_options is asked without',
    async (t) => {
      const { end, model } = await run([well], {
        apiKey: 'sk-1',
        server: { apiKey: 'sk-1', refuses: 'stream_options' },
      });
      t.match(end, { success: true });
      t.match(model.requests, [{ authorization: 'Bearer sk-1' }]);
      t.notOk('stream_options' in (model.requests[0]?.body ?? {}));
    },
  );

  await t.test('a recorded session replays offline: the same requests, byte for byte', async (t) => {
    const script: Turn[] = [
      evaluate(`agent.go('data:text/html,<title>x</title><button>Go</button>'); agent.look().elements.length`),
      evaluate(`agent.act('{button}Go', 'click')`),
      well,
    ];
    let recorder = { calls: [] as readonly RecordedCall[] };
    const baseURL = async (server: { readonly baseURL: string }) => {
      const started = await startRecorder(t, server.baseURL);
      recorder = started;
      return started.baseURL;
    };
    const first = await run(script, { baseURL });
    const replay = await startReplay(t, recorder.calls);
    const second = await run([], { baseURL: async () => replay.baseURL });
    t.match(first.end, { success: true });
    t.same(second.end, first.end);
    t.equal(recorder.calls.length, 3);
    t.equal(replay.left, 0);
    t.same(second.conversation, first.conversation);
  });
});
