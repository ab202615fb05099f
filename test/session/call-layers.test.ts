import t from 'tap';
import { Secrets } from '#troupe/agent-js/secrets.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { HostCall, HostModule } from '#troupe/script/host-module.js';
import { layered, scriptLayers } from '#troupe/session/call-layers.js';
import { ControlLock } from '#troupe/session/control/control-lock.js';
import { FlowJob } from '#troupe/session/flow-job.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const SECRET = 'corr3ct-horse';
const context = { site: { kind: 'flow', flow: 'buy', line: 1, column: 1, flowRun: 1 } } as Parameters<HostCall>[1];

/** As a session has them. */
const layersOf = (controlLock: ControlLock, flows: FlowJob, secrets: Secrets) =>
  scriptLayers({
    controlLock: (module) => controlLock.wrap(module),
    flowTape: (module) => flows.wrap(module),
    secrets: (module) => secrets.wrap(module),
  });

/** An `agent` whose page shows what was typed, and what a script knows and the tape keeps when it has been called. */
async function recorded(around: (module: HostModule, flows: FlowJob) => HostModule) {
  const typed: unknown[] = [];
  const agent: HostModule = {
    name: 'agent',
    prelude: '',
    calls: {
      act: async (args) => {
        typed.push(args[2]);
        return { text: `Hello ${String(args[2])}` };
      },
      text: async () => {
        throw new TroupeError('ACTION_FAILED', `No ${SECRET}`, { candidates: [SECRET] });
      },
    },
  };
  const flows = new FlowJob({ emit: () => undefined, healedDir: '', heldMs: () => 0, failed: async () => undefined });
  const { calls } = around(agent, flows);
  flows.tape.begin();
  const answer = await calls.act?.(['{input}Password', 'input', '{{password}}'], context);
  const error: unknown = await calls.text?.([], context).catch((thrown: unknown) => thrown);
  return { typed, answer, error, tape: flows.tape.calls };
}

t.test('A tape never holds the value of a secret: neither what was typed, nor an answer, nor an error', async (t) => {
  const secrets = new Secrets({ password: SECRET });
  const { typed, answer, error, tape } = await recorded((agent, flows) =>
    layered(agent, layersOf(new ControlLock('agent'), flows, secrets)),
  );
  t.same(typed, [SECRET], 'the page gets it');
  t.same(answer, { text: 'Hello {{password}}' });
  t.match(error, { message: 'No {{password}}', details: { candidates: ['{{password}}'] } });
  t.match(tape, [
    { target: 'agent.act', args: ['{input}Password', 'input', '{{password}}'], answer: { value: answer } },
    { target: 'agent.text', answer: { ok: false, error: { error: 'No {{password}}' } } },
  ]);
  t.notMatch(JSON.stringify(tape), SECRET);
});

t.test('While a person has control, nothing of a call is on the tape', async (t) => {
  const controlLock = new ControlLock('person');
  const made: unknown[] = [];
  const flows = new FlowJob({ emit: () => undefined, healedDir: '', heldMs: () => 0, failed: async () => undefined });
  const layers = layersOf(controlLock, flows, new Secrets({}));
  const text: HostCall = async () => made.push('text');
  const { calls } = layered({ name: 'agent', prelude: '', calls: { text } }, layers);
  flows.tape.begin();
  const { signal } = new AbortController();
  const called = calls.text?.([], { ...context, signal, pause: () => () => undefined });
  await new Promise(setImmediate);
  t.same([made, flows.tape.calls], [[], []]);
  controlLock.giveBack();
  await called;
  t.same([made.length, flows.tape.calls.length], [1, 1]);
});

t.test('A person types secrets too, without the lock that holds the agent, and without the tape', async (t) => {
  const secrets = new Secrets({ password: SECRET });
  const { typed, tape } = await recorded((agent, flows) => {
    const all = layersOf(new ControlLock('person'), flows, secrets);
    return layered(
      agent,
      all.filter(({ agentOnly }) => !agentOnly),
    );
  });
  t.same(typed, [SECRET]);
  t.same(tape, []);
});
