import t from 'tap';
import type { BrowserPort } from '#troupe/agent-js/browser/browser-port.js';
import type { CdpEvent } from '#troupe/agent-js/browser/cdp.js';
import { goBack, navigate } from '#troupe/agent-js/tabs/go.js';
import { Tab } from '#troupe/agent-js/tabs/tab.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const URL = 'http://site.test/b';
const PAGE = { session: 'page', targetId: 'main', openerId: undefined, url: 'http://site.test/a', title: 'A' };
const opening: CdpEvent = {
  method: 'Page.javascriptDialogOpening',
  params: { url: PAGE.url, frameId: 'main', message: '', type: 'beforeunload', hasBrowserHandler: false },
  session: 'page',
};
const closed: CdpEvent = {
  method: 'Page.javascriptDialogClosed',
  params: { frameId: 'main', result: false, userInput: '' },
  session: 'page',
};

/** A page whose question somebody else answers, always with Cancel and before anybody else does. */
function heldTab(): Tab {
  const answers = new Map<string, () => object>([
    ['Runtime.evaluate', () => ({})],
    ['Page.stopLoading', () => ({})],
    [
      'Page.getNavigationHistory',
      () => ({
        currentIndex: 1,
        entries: [
          { id: 7, url: URL },
          { id: 8, url: PAGE.url },
        ],
      }),
    ],
    ['Page.navigate', () => ask({ frameId: 'main', loaderId: 'B', errorText: 'net::ERR_ABORTED' })],
    ['Page.navigateToHistoryEntry', () => ask({})],
  ]);
  const ask = (answer: object): object => {
    tab.observe(opening);
    tab.observe(closed);
    return answer;
  };
  const browser: BrowserPort = {
    pageSize: { width: 1280, height: 720, deviceScaleFactor: 1 },
    downloadsDir: '',
    uploadsDir: '',
    lost: new Promise(() => undefined),
    send: async (method) => {
      const answer = answers.get(method);
      if (answer === undefined) throw new Error(`${method} is refused`);
      return answer() as never;
    },
    listen: () => () => undefined,
    onPage: () => () => undefined,
  };
  const tab = new Tab(browser, PAGE, () => ({ flowRun: null, numbers: null }));
  t.teardown(() => tab.close());
  return tab;
}

const bounds = () => ({ deadline: performance.now() + 3_000, signal: new AbortController().signal });
const refused = {
  code: 'ACTION_FAILED',
  message: `${URL} was not loaded: the page asked whether to leave it, and was answered with Cancel`,
};

t.test('go says that it was held back by Cancel', async (t) => {
  await t.rejects(navigate(heldTab(), URL, bounds()), refused);
});

t.test('back says that it was held back by Cancel', async (t) => {
  await t.rejects(goBack(heldTab(), bounds()), refused);
});
