import t from 'tap';
import { openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, type ModelRequest, startModelServer, type Turn } from '../support/model-server.js';
import { client, makeHome } from '../support/service.js';
import { startServiceProcess } from '../support/service-process.js';

guardLeaks(t);

t.test(
  'after kill -9 in a script of its model a job goes on with its page, told that the outcome is unknown',
  async (t) => {
    const site = await openSite(t);
    let orders = 0;
    const page = site.set('/', '<title>Shop</title><form action="/order"><button>Order</button></form>');
    site.set('/order', (_, response) => {
      orders += 1;
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<title>Thanks</title><button>Again</button><script>onload = () => fetch('/thanked')</script>`);
    });
    const thanked = new Promise<void>((resolve) => {
      site.set('/thanked', (_, response) => {
        response.end();
        resolve();
      });
    });
    const toldUnknown = ({ body }: ModelRequest) =>
      /How far it came is not known/.test(body.messages.at(-1)?.content ?? '');
    const model = await startModelServer(t, (request, index): Turn => {
      if (index === 0) return evaluate(`agent.go('${page}')`);
      if (toldUnknown(request)) return done(true, 'The page says thanks');
      return evaluate(`agent.act('{button}Order', 'click'); agent.wait(60000)`);
    });
    const home = makeHome(t, {
      models: ['scripted/m'],
      providers: { scripted: { baseURL: model.baseURL } },
      warmSessions: 0,
    });
    const first = await startServiceProcess(t, home);
    const before = client(first.url);
    const { id } = (await before.call('POST', '/api/jobs', { prompt: 'Order one' })).body;
    // A page that loads when its service dies loses its connection; this one is there.
    await thanked;
    await first.end('SIGKILL');

    const second = await startServiceProcess(t, home);
    const after = client(second.url);
    const { body: events } = await after.call('GET', `/api/sessions/${id}/events`);
    t.match((await after.call('GET', `/api/jobs/${id}`)).body, {
      state: 'completed',
      summary: 'The page says thanks',
      iterations: 3,
      model: 'scripted/m',
    });
    t.equal(orders, 1, 'nothing was done twice');
    t.match(model.requests.at(-1)?.body.messages.at(-1)?.content, /\{button\}Again/, 'the page is as it was');
    t.equal(events.match(/event: SessionEnded/g)?.length, 1);
    t.equal(events.match(/event: ModelStarted/g)?.length, 1);
    t.same(await second.end('SIGTERM'), { code: 0, signal: null });
  },
);
