import fc from 'fast-check';
import t from 'tap';
import type { BrowserPort } from '#troupe/agent-js/browser/browser-port.js';
import type { CdpEvent } from '#troupe/agent-js/browser/cdp.js';
import { Condition } from '#troupe/agent-js/browser/condition.js';
import { Frames } from '#troupe/agent-js/tabs/frames.js';
import { WORLD } from '#troupe/page/page-calls.js';
import { guardLeaks } from '../support/leaks.js';
import { SEED } from '../support/seed.js';

guardLeaks(t);

fc.configureGlobal({ seed: SEED });

/** A browser that is told things and answers none: only what it tells by itself is looked at here. */
const silent: BrowserPort = {
  pageSize: { width: 1280, height: 720, deviceScaleFactor: 1 },
  downloadsDir: '',
  uploadsDir: '',
  lost: new Promise(() => undefined),
  send: () => new Promise<never>(() => undefined),
  listen: () => () => undefined,
  onPage: () => () => undefined,
};
const PAGE = { session: 'page', targetId: 'main', openerId: undefined, url: '', title: '' };

const world = (session: string, id: number, frameId: string): CdpEvent => ({
  method: 'Runtime.executionContextCreated',
  params: { context: { id, name: WORLD, auxData: { frameId }, origin: '', uniqueId: '' } },
  session,
});
const navigated = (session: string, id: string, origin: string, parentId?: string): CdpEvent => ({
  method: 'Page.frameNavigated',
  params: {
    type: 'Navigation',
    frame: {
      id,
      loaderId: `${id} ${origin}`,
      url: origin,
      domainAndRegistry: '',
      securityOrigin: origin,
      mimeType: 'text/html',
      secureContextType: 'InsecureScheme',
      crossOriginIsolatedContextType: 'NotIsolated',
      gatedAPIFeatures: [],
      ...(parentId && { parentId }),
    },
  },
  session,
});

t.test('A frame that goes to a process of its own is asked there, in whatever order the two tell of it', (t) => {
  const fromPage: CdpEvent[] = [
    { method: 'Page.frameAttached', params: { frameId: 'inner', parentFrameId: 'main' }, session: 'page' },
    world('page', 1, 'inner'),
    {
      method: 'Runtime.executionContextDestroyed',
      params: { executionContextId: 1, executionContextUniqueId: '' },
      session: 'page',
    },
    { method: 'Page.frameDetached', params: { frameId: 'inner', reason: 'swap' }, session: 'page' },
  ];
  const attached: CdpEvent = {
    method: 'Target.attachedToTarget',
    params: {
      sessionId: 'own',
      targetInfo: { targetId: 'inner', type: 'iframe', title: '', url: '', attached: true, canAccessOpener: false },
      waitingForDebugger: true,
    },
    session: 'page',
  };
  const fromFrame = [attached, navigated('own', 'inner', 'http://far.test'), world('own', 7, 'inner')];
  const order = fc.shuffledSubarray([...fromPage.map(() => 'page'), ...fromFrame.map(() => 'frame')], {
    minLength: fromPage.length + fromFrame.length,
  });
  fc.assert(
    fc.property(order, (turns) => {
      const condition = new Condition();
      const frames = new Frames(silent, PAGE, (holds, bounds) => condition.watch(holds, bounds));
      frames.observe(navigated('page', 'main', 'http://near.test'));
      const left = { page: [...fromPage], frame: [...fromFrame] };
      for (const turn of turns) {
        const event = left[turn === 'page' ? 'page' : 'frame'].shift();
        if (event !== undefined) frames.observe(event);
      }
      return (
        frames.world('inner')?.session === 'own' &&
        frames.apart.join() === 'inner' &&
        frames.parentOf('inner') === 'main'
      );
    }),
  );
  t.end();
});

t.end();
