import t from 'tap';
import type { BrowserPort } from '#troupe/agent-js/browser/browser-port.js';
import type { CdpEvent } from '#troupe/agent-js/browser/cdp.js';
import { type CastFrame, Screencast } from '#troupe/agent-js/pictures/screencast.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('A frame that comes after a newer one is acknowledged and passed to nobody', (t) => {
  let observe: (event: CdpEvent) => void = () => undefined;
  const sent: string[] = [];
  const browser: Pick<BrowserPort, 'listen' | 'send'> = {
    listen(listener) {
      observe = listener;
      return () => undefined;
    },
    send(method) {
      sent.push(method);
      return Promise.reject(new Error('nothing is asked for an answer'));
    },
  };
  const cast = new Screencast(browser as BrowserPort);
  const frames: CastFrame[] = [];
  cast.listen((frame) => frames.push(frame));
  cast.want('video', { page: 'tab', maxWidth: 640, maxHeight: 480 });
  const frame = (data: string, timestamp: number) => {
    const metadata = { timestamp, deviceWidth: 640, deviceHeight: 480 };
    observe({ method: 'Page.screencastFrame', session: 'tab', params: { data, metadata, sessionId: 1 } } as CdpEvent);
  };
  const acknowledged = () => sent.filter((method) => method === 'Page.screencastFrameAck').length;
  frame('second', 1_000.2);
  cast.acknowledge();
  frame('first', 1_000.1);
  t.equal(acknowledged(), 2);
  frame('third', 1_000.3);
  frame('after the clock was set', 10);
  t.same(
    frames.map(({ data }) => data),
    ['second', 'third', 'after the clock was set'],
  );
  cast.close();
  t.end();
});
