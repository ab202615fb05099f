import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { call, done, evaluate, says, type Turn } from '../support/model-server.js';
import { folded, openLoops } from './loop-fixture.js';

guardLeaks(t);

t.test('the model loop', async (t) => {
  const { run, site } = await openLoops(t);
  const page = site.set(
    '/',
    '<title>Counter</title><button onclick="this.textContent=Number(this.textContent)+1">1</button>',
  );

  await t.test('a model that says done has done it, and its summary stands', async (t) => {
    const { end, model, told } = await run([evaluate(`agent.go('${page}')`), done(true, 'It is open')]);
    t.same(end, { success: true, summary: 'It is open' });
    t.match(model.requests[1]?.body.messages.at(-1)?.content, /<page>\nCounter · [^\n]+\n\{button\}1\n<\/page>/);
    t.match(told('ModelCallFinished')[0], {
      call: 1,
      attempt: 1,
      finish: 'tool_calls',
      toolCalls: [{ name: 'agent_eval' }],
    });
    t.ok(told('ModelCallFinished').every(({ tokens }) => tokens.input > 0 && tokens.output > 0));
  });

  await t.test('a model that says that it failed ends the task with TASK_FAILED and its words', async (t) => {
    const { end } = await run([done(false, 'There is no such page')]);
    t.match(end, { success: false, error: { code: 'TASK_FAILED', error: 'There is no such page' } });
  });

  await t.test('one answer without a tool call is nudged, a second in a row ends the task', async (t) => {
    const once = await run([says('Let me think.'), done(true, 'Thought')]);
    t.match(once.end, { success: true });
    t.match(once.heard(1), /You called no tool/);
    const twice = await run([says('I think.'), says('I go on thinking.')]);
    t.match(twice.end, { success: false, error: { code: 'TASK_FAILED', error: /I go on thinking/ } });
    const between = await run([says('a'), evaluate('1'), says('b'), done(true, '')]);
    t.match(between.end, { success: true }, 'a tool call in between is no row');
  });

  await t.test('a refusal and an empty answer count as answers without a tool call', async (t) => {
    const refused = await run([{ kind: 'answer', refusal: 'I cannot help with that.' }, says('')]);
    t.match(refused.end, { success: false, error: { code: 'TASK_FAILED' } });
    t.match(refused.conversation.turns[0], { text: 'I cannot help with that.' });
    t.match(refused.model.requests[1]?.body.messages[2], { role: 'assistant', content: 'I cannot help with that.' });
    const empty = await run([says(''), done(true, 'after nothing')]);
    t.match(empty.end, { success: true });
    t.match(empty.model.requests[1]?.body.messages[2]?.content, /./, 'providers refuse an empty message');
  });

  await t.test('what is wrong with a tool call is told to the model, and nothing is run', async (t) => {
    const { end, heard, told } = await run([
      call('agent_eval', '{"js": "1 + '),
      call('agent_eval', { script: '1' }),
      call('shell', { command: 'ls' }),
      call('done', { success: 'yes' }),
      done(true, 'At last'),
    ]);
    t.match(end, { success: true });
    t.match(heard(1), /not JSON/);
    t.match(heard(2), /takes \{"js"/);
    t.match(heard(3), /no tool 'shell'/);
    t.match(heard(4), /has not ended/);
    t.ok(told('ToolAnswered').every(({ ok }) => !ok));
  });

  await t.test(
    'a script that fails is told with its code, and done after it in the same answer is not taken',
    async (t) => {
      const both: Turn = {
        kind: 'answer',
        calls: [
          { name: 'agent_eval', arguments: JSON.stringify({ js: 'let a = 1;\nagent.value("#nothing")' }) },
          { name: 'done', arguments: JSON.stringify({ success: true, summary: 'All is well' }) },
        ],
      };
      const { end, model } = await run([both, done(false, 'It was not')]);
      t.match(end, { success: false, summary: 'It was not' });
      const [first, second] = model.requests[1]?.body.messages.slice(-2) ?? [];
      t.match(first?.content, /<error>\nLOCATOR_NOT_FOUND: [\s\S]*"line":2/);
      t.match(second?.content, /Not accepted/);
    },
  );

  await t.test('the same step without effect is nudged at three and ends the task at five', async (t) => {
    const { end, heard, model } = await run(() => evaluate('agent.text("title")'));
    t.match(end, { success: false, error: { code: 'TASK_FAILED', error: /same step 5 times/ } });
    t.equal(model.requests.length, 5);
    t.match(heard(3), /3 times and changed nothing/);
    const clicking = await run((_, index) =>
      index === 0
        ? evaluate(`agent.go('${page}')`)
        : index < 7
          ? evaluate('agent.act("button", "click")')
          : done(true, ''),
    );
    t.match(clicking.end, { success: true }, 'a step that changes the page is no repetition');
  });

  await t.test('maxIterations and maxTokens are hard stops', async (t) => {
    const script = (_: unknown, index: number): Turn => evaluate(`${index}`);
    const answers = await run(script, { budget: { maxIterations: 4 } });
    t.match(answers.end, { success: false, error: { code: 'MAX_ITERATIONS' } });
    t.equal(answers.model.requests.length, 4);
    t.match(answers.heard(1), /3 answers are left/);
    const tokens = await run(script, { budget: { maxTokens: 1000 } });
    t.match(tokens.end, { success: false, error: { code: 'MAX_ITERATIONS', error: /tokens of 1000/ } });
    const { input, output } = tokens.conversation.tokens;
    t.ok(input + output >= 1000 && tokens.model.requests.length < 10);
  });

  await t.test('an endless response is cut, and the model is told to be brief', async (t) => {
    const { end, heard } = await run([{ kind: 'endless' }, done(true, 'brief')]);
    t.match(end, { success: true });
    t.match(heard(1), /too long/);
  });

  await t.test('aborting ends the model call and the loop at once', async (t) => {
    const { end, model } = await run([{ kind: 'hang' }], { abortAt: 'ModelCallStarted' });
    t.match(end, { thrown: { error: 'given up' } });
    t.equal(model.requests.length, 0);
    const speaking = await run([{ kind: 'endless' }], { abortAt: 'ModelTextReceived' });
    t.match(speaking.end, { thrown: { error: 'given up' } });
  });

  await t.test('the conversation is the fold of its events, and goes on from them', async (t) => {
    const first = await run([evaluate('let kept = 1; kept'), evaluate('kept + 1')], {
      abortAt: 'ModelTextReceived',
      task: 'Count',
    });
    t.same(folded(first.events), first.conversation);
    const cut = first.events.filter(({ type }) => type !== 'ToolAnswered');
    const second = await run([done(true, 'went on')], { known: folded(cut) });
    t.match(second.end, { success: true, summary: 'went on' });
    const messages = second.model.requests[0]?.body.messages ?? [];
    t.match(messages[1]?.content, /Count/, 'the task is the one of the beginning');
    t.match(messages.findLast(({ role }) => role === 'tool')?.content, /How far it came is not known/);
    t.same(second.told('ModelStarted'), []);
  });

  await t.test('a done that was recorded before a kill ends the task without asking again', async (t) => {
    const first = await run([evaluate('1'), done(true, 'recorded')]);
    const second = await run([], { known: folded(first.events) });
    t.same(second.end, { success: true, summary: 'recorded' });
    t.equal(second.model.requests.length, 0);
  });
});
