import { type AddressInfo, createServer, Socket } from 'node:net';
import t from 'tap';
import { reach } from '#troupe/containers/gate/reach.js';
import { EgressRules } from '#troupe/net-policy/egress.js';
import { bridgeAddress } from '#troupe/service/choose-driver.js';
import { engineInUse, skipWithoutDocker } from '../../support/docker.js';
import { NO_RULES } from '../../support/egress-setting.js';
import { guardLeaks } from '../../support/leaks.js';

guardLeaks(t);

t.test(
  'A name that leads elsewhere the next time gains nothing: it is looked up once for each connection, and judged by that',
  { skip: skipWithoutDocker },
  async (t) => {
    const open = String(await bridgeAddress(engineInUse()));
    const hits: string[] = [];
    const site = createServer((socket) => {
      hits.push(String(socket.localAddress));
      socket.end();
    });
    await new Promise<void>((resolve) => site.listen(0, open, resolve));
    t.teardown(() => site.close());
    const { port } = site.address() as AddressInfo;
    const rules = new EgressRules(NO_RULES, { forward: [], egress: {} });
    const answers = [[open], ['127.0.0.1'], ['127.0.0.1', open], [open]];
    const asked: string[] = [];
    const lookUp = async (name: string) => answers[asked.push(name) - 1] ?? [];
    const tried = () => reach(rules, 'rebinding.test', port, AbortSignal.timeout(60_000), lookUp);
    const ends: unknown[] = [];
    for (const _ of answers) {
      const end = await tried();
      if (end instanceof Socket) await new Promise((resolve) => end.resume().once('close', resolve).end());
      ends.push(end instanceof Socket ? 'reached' : end);
    }
    t.same(ends, ['reached', 'refused', 'reached', 'reached']);
    t.same(
      asked,
      answers.map(() => 'rebinding.test'),
    );
    t.same(hits, [open, open, open], 'what was not admitted was not tried');
  },
);
