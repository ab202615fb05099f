import t from 'tap';
import type { CdpEvent } from '#troupe/agent-js/browser/cdp.js';
import { Navigation } from '#troupe/agent-js/tabs/navigation.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const session = 'page';
const url = 'http://site.test/b';
const requested: CdpEvent = {
  method: 'Page.frameRequestedNavigation',
  params: { frameId: 'main', reason: 'anchorClick', url, disposition: 'currentTab' },
  session,
};
const scheduled: CdpEvent = {
  method: 'Page.frameScheduledNavigation',
  params: { frameId: 'main', delay: 0, reason: 'anchorClick', url },
  session,
};
const cleared: CdpEvent = { method: 'Page.frameClearedScheduledNavigation', params: { frameId: 'main' }, session };
const stopped: CdpEvent = { method: 'Page.frameStoppedLoading', params: { frameId: 'main' }, session };
const started = (loaderId: string): CdpEvent => ({
  method: 'Page.frameStartedNavigating',
  params: { frameId: 'main', url, loaderId, navigationType: 'differentDocument' },
  session,
});
const opens = (type: 'beforeunload' | 'confirm', frameId = 'main'): CdpEvent => ({
  method: 'Page.javascriptDialogOpening',
  params: { url, frameId, message: '', type, hasBrowserHandler: false, defaultPrompt: '' },
  session,
});
const closes = (result: boolean, frameId = 'main'): CdpEvent => ({
  method: 'Page.javascriptDialogClosed',
  params: { frameId, result, userInput: '' },
  session,
});

/** Whether the main frame is on its way after these, and how often it was kept. */
function after(...events: readonly CdpEvent[]): { readonly goes: boolean; readonly stays: number } {
  const navigation = new Navigation('main', 'http://site.test/a');
  for (const event of events) navigation.observe(event);
  return { goes: navigation.pending !== null, stays: navigation.stays };
}

t.test('A question that is answered with Cancel ends what the page asked for, and nothing else does', async (t) => {
  const ask = opens('beforeunload');
  for (const [what, events, goes, stays] of [
    ['a link', [scheduled, requested, ask, closes(false), cleared], false, 1],
    ['a form', [requested, scheduled, ask, closes(false), cleared], false, 1],
    ['OK', [scheduled, requested, ask, closes(true), cleared], true, 0],
    ['OK, and it has begun', [scheduled, requested, ask, closes(true), started('B')], true, 0],
    ['a confirm', [scheduled, requested, opens('confirm'), closes(false)], true, 0],
    ['a confirm, after a question', [ask, closes(true), requested, opens('confirm'), closes(false)], true, 0],
    ['the question of a frame', [requested, opens('beforeunload', 'f'), closes(false, 'f')], false, 1],
    ['one that has begun is stopped', [started('B'), ask, stopped, closes(false)], false, 1],
    ['one that has begun before goes on', [started('B'), requested, ask, closes(false)], true, 1],
    ['and ends', [started('B'), requested, ask, closes(false), stopped], false, 1],
    ['asked again', [requested, ask, closes(false), requested, ask], true, 1],
    ['kept twice', [requested, ask, closes(false), requested, ask, closes(false)], false, 2],
  ] as const) {
    t.same(after(...events), { goes, stays }, what);
  }
});
