import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { flowModule } from '#troupe/agent-js/flows/flow.js';
import { readBrief } from '#troupe/autonomy/brief.js';
import { EMPTY_CONVERSATION } from '#troupe/autonomy/conversation.js';
import { ConversationRecord } from '#troupe/autonomy/conversation-record.js';
import { Loop } from '#troupe/autonomy/loop.js';
import { Model } from '#troupe/autonomy/model.js';
import { ModelCaller } from '#troupe/autonomy/model-caller.js';
import { systemPrompt, taskMessage } from '#troupe/autonomy/prompt.js';
import { encodeError } from '#troupe/protocol/errors.js';
import { Sandbox } from '#troupe/script/sandbox.js';
import { FlowJob } from '#troupe/session/flow-job.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { handyman } from '../support/handyman.js';
import { guardLeaks } from '../support/leaks.js';
import { startModelServer } from '../support/model-server.js';
import { sampled } from '../support/sampled.js';
import { BREAKAGES, openSignUp, SIGN_UP_FLOW } from '../support/sign-up.js';

guardLeaks(t);

const FLOW_MS = 60_000;

t.test('flows that a changed page broke go on with a model, and the mended flow passes without one', async (t) => {
  const site = await openSite(t);
  const model = await startModelServer(t, handyman);
  const { agent } = await openAgent(t, await openBrowser(t), { actMs: 300 });
  const home = t.testdir({});
  const flowsDir = join(home, 'flows');
  mkdirSync(flowsDir);
  const signal = new AbortController().signal;

  /** Runs a flow, then the model where it fails. */
  const run = async (flow: string, args: object) => {
    const healedDir = join(home, 'healed');
    const flows = new FlowJob({ emit: () => undefined, healedDir, heldMs: () => 0, failed: async () => undefined });
    const modules = [agent.module, flowModule({ flowsDir })].map((module) => flows.wrap(module));
    const sandbox = await Sandbox.start({ modules, emit: (event) => flows.forward(event), args });
    const parts = { sandbox, agent };
    const bounds = { timeoutMs: FLOW_MS, signal };
    const outcomeOf = async (work: Promise<string>) => {
      try {
        return { end: { kind: 'result', json: await work }, console: [] } as const;
      } catch (error) {
        return { end: { kind: 'error', error: encodeError(error) }, console: [] } as const;
      }
    };
    try {
      const ran = await flows.run([flow], parts, bounds);
      if (ran.status === 'passed') return { byModel: false, end: null, told: '' };
      const record = new ConversationRecord(EMPTY_CONVERSATION, () => undefined);
      const choice = { id: 's/m', provider: 's', name: 'm', baseURL: model.baseURL, apiKeyEnv: null, apiKey: null };
      const clock = { now: () => performance.now(), sleep: async () => undefined, random: Math.random };
      const caller = new ModelCaller({
        models: [new Model(choice, { answerMs: 20_000, silenceMs: 20_000 })],
        emit: record.emit,
        clock,
      });
      const brief = await readBrief(flowsDir, {
        prompt: 'Sign up',
        flowFiles: [flow],
        args: Object.keys(args),
        secrets: [],
        failed: ran,
      });
      const loop = new Loop({
        record,
        caller,
        budget: { maxIterations: 40, maxTokens: null },
        recorded: async () => undefined,
        environment: {
          evaluate: (js) => outcomeOf(sandbox.run({ source: js, name: 'model.js', kind: 'model', timeoutMs: 20_000 })),
          resumeFlow: (how) => outcomeOf(flows.resume(how, parts, bounds)),
          waitForControl: async () => 0,
          look: () => agent.see({ deadline: performance.now() + 60_000, signal }),
        },
      });
      const opening = async () => ({ model: 's/m', system: systemPrompt(brief), task: taskMessage(brief) });
      const end = await loop.run({ opening }, signal);
      return { byModel: true, end, told: model.requests.at(-1)?.text ?? '' };
    } finally {
      await sandbox.close();
    }
  };

  writeFileSync(join(flowsDir, 'sign-up.js'), SIGN_UP_FLOW);
  t.match(await run('sign-up.js', { base: openSignUp(site, '/as-it-was', {}) }), { byModel: false });
  let healed = 0;
  const names = sampled(Object.keys(BREAKAGES), { name: 'breakages', count: 5 });
  for (const [index, name] of names.entries()) {
    const base = openSignUp(site, `/${index}`, BREAKAGES[name] ?? {});
    const first = await run('sign-up.js', { base });
    t.match(first.end, { success: true }, `${name}: the model brings the flow through`);
    const mended = readFileSync(join(home, 'healed', 'sign-up.js'), 'utf8');
    writeFileSync(join(flowsDir, 'mended.js'), mended);
    const second = await run('mended.js', { base, name: 'Grace' });
    t.match(second, { byModel: false }, `${name}: the mended flow passes, with other arguments too`);
    if (second.byModel) t.comment(mended);
    else healed += 1;
  }
  t.comment(`healed: ${healed} of ${names.length}`);
});
