import { getEventListeners } from 'node:events';
import t from 'tap';
import type { HostModule } from '#troupe/script/host-module.js';
import { Sandbox } from '#troupe/script/sandbox.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const PAGE = `<!doctype html><title>Orders</title><main><p id=x>0</p><button onclick="x.textContent = +x.textContent + 1">More</button>
  <iframe srcdoc="<p>Inside</p>"></iframe><iframe sandbox srcdoc="<p>Apart</p>"></iframe></main>
  <script>setInterval(() => { document.title = 'Orders ' + Math.random() }, 20)</script>`;

t.test('A long script leaves no listener of a call that has ended on its signal', async (t) => {
  const lease = await openBrowser(t);
  const site = await openSite(t);
  const address = site.set('/orders', PAGE);
  const { agent } = await openAgent(t, lease, { policy: 'off' });
  const counts: number[] = [];
  const probe: HostModule = {
    name: 'probe',
    prelude: '(host) => { globalThis.countListeners = () => host("count"); }',
    calls: {
      count: async (_, { signal }) => {
        const count = getEventListeners(signal, 'abort').length;
        counts.push(count);
        return count;
      },
    },
  };
  const sandbox = await Sandbox.start({ modules: [agent.module, probe], emit: () => undefined });
  t.teardown(() => sandbox.close());
  const source = `agent.go(${JSON.stringify(address)});
    const failing = (call) => { try { call() } catch {} };
    for (let round = 1; round <= 12; round += 1) {
      agent.act('{button}More', 'click');
      agent.expect('#x').toHaveText(String(round));
      agent.expect('#x').toHaveText(new RegExp('^' + round + '$'));
      agent.until(() => agent.text('#x') === String(round));
      failing(() => agent.expect('#x').toHaveText('never', {timeout: 40}));
      failing(() => agent.wait('{a}Nowhere', {timeout: 40}));
      failing(() => agent.until(() => false, {timeout: 40}));
      agent.look();
      agent.wait(1);
      countListeners();
    }
    agent.go(${JSON.stringify(address)});
    countListeners();`;
  await sandbox.run({ source, name: 'long.js', kind: 'script', timeoutMs: 120_000 });
  t.ok(Math.max(...counts) <= 3, `listeners after each round: ${counts.join(' ')}`);
});
