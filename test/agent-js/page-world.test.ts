import t from 'tap';
import type { BrowserPort } from '#troupe/agent-js/browser/browser-port.js';
import { HOOKS_SOURCE, PageWorld } from '#troupe/agent-js/tabs/page-world.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const BOUNDS = { deadline: performance.now() + 60_000, signal: new AbortController().signal };
const VALUE_TYPE = /"value":"([^"]+)"/.exec(HOOKS_SOURCE)?.[1];

/**
 * The world of a page whose browser refuses the calls with JavaScript by `refusals`, one after the other, and answers those
 * that come then.
 */
function worldThatRefuses(refusals: readonly string[]) {
  const left = [...refusals];
  const calls = { count: 0 };
  const answer = (method: string, params: object): unknown => {
    if (method === 'DOMDebugger.getEventListeners')
      return { listeners: [{ type: VALUE_TYPE, handler: { objectId: 'held' } }] };
    if (method !== 'Runtime.callFunctionOn' || !('uniqueContextId' in params)) return { result: { objectId: 'some' } };
    calls.count += 1;
    const refusal = left.shift();
    if (refusal !== undefined) throw new TroupeError('ACTION_FAILED', refusal);
    return { result: { value: '1' } };
  };
  const browser: Pick<BrowserPort, 'send'> = { send: async (method, params) => answer(method, params) as never };
  const world = new PageWorld(browser as BrowserPort, 'page', 'main', async () => true);
  world.observe({
    method: 'Runtime.executionContextCreated',
    params: {
      context: { id: 1, name: '', auxData: { frameId: 'main', isDefault: true }, origin: '', uniqueId: 'own' },
    },
    session: 'page',
  });
  return { world, calls };
}

t.test('JavaScript that may have run in a document that is gone does not run again', async (t) => {
  for (const refusal of [
    'Cannot find context with specified id',
    'Execution context was destroyed.',
    'Promise was collected',
    'Inspected target navigated or closed',
  ]) {
    const { world, calls } = worldThatRefuses([refusal]);
    const expected = { code: 'ACTION_FAILED', message: /replaced by another one while the JavaScript ran/ };
    await t.rejects(world.evaluate('1', 100, BOUNDS), expected, refusal);
    t.equal(calls.count, 1, refusal);
  }
});

t.test('JavaScript that has not begun runs in the document that has come', async (t) => {
  for (const refusal of ['uniqueContextId not found', 'Could not find object with given id']) {
    const { world, calls } = worldThatRefuses([refusal, refusal]);
    t.match(await world.evaluate('1', 100, BOUNDS), { result: { value: '1' } }, refusal);
    t.equal(calls.count, 3, refusal);
  }
});
