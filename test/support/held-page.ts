import type { Test } from 'tap';
import type { TestService } from './service.js';

/** What keeps a page from answering whoever comes later: it asks its user, or its script never ends. */
export const HOLDING_SCRIPTS = [`alert('Hello')`, 'for (;;);'];

/** A live session whose page does not answer. */
export async function holdPage(service: Pick<TestService, 'live' | 'run' | 'seen'>, script: string): Promise<string> {
  const { id } = await service.live();
  await service.run(id, `agent.go('data:text/html,<title>held</title>')`);
  // The last that the page says before it stops answering.
  const held = `setTimeout(() => { reportError(new Error('held')); ${script} })`;
  await service.run(id, `agent.page(${JSON.stringify(held)})`);
  await service.seen(id, 'PageErrorLogged');
  return id;
}

/**
 * The first script after a restart is told that the page is gone, and the next finds a fresh one in its place. A headless
 * shell closes the dialogs of a connection that is gone, so that its page lives on.
 */
export async function tellsPageLost(t: Test, service: Pick<TestService, 'call' | 'run'>, id: string): Promise<void> {
  const first = await service.run(id, 'agent.look().title');
  const lost = first.status !== 200;
  if (lost) {
    t.match(first, { status: 502, body: { code: 'SESSION_RESTARTED', details: { pageLost: true } } });
    t.match(await service.run(id, 'agent.look().url'), { status: 200, body: 'about:blank' });
    t.match(await service.run(id, 'agent.tabs().length'), { body: 1 }, 'the page that did not answer is closed');
  } else {
    t.equal(first.body, 'held');
  }
  await service.call('DELETE', `/api/sessions/${id}`);
  const { body } = await service.call('GET', `/api/sessions/${id}/events`);
  t.match(body, lost ? /"type":"SessionRestarted","data":\{[^{}]*"pageLost":true\}/ : /SessionRestarted/);
}
