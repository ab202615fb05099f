import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { postgresMissing } from '../support/test-store.js';
import { makeNodes } from './running-nodes.js';

guardLeaks(t);

const missing = await postgresMissing();

t.test('A page reaches neither its own node nor another', { skip: missing, timeout: 280_000 }, async (t) => {
  const nodes = await makeNodes(t);
  const a = await nodes.start('a');
  const { id } = await a.live();
  const b = await nodes.start('b');
  const reaches = async (url: string) => (await a.run(id, `agent.go(${JSON.stringify(url)}).status`)).body === 200;
  await eventually('the one that came later is closed, too', async () => !(await reaches(b.url)), 60_000);
  t.notOk(await reaches(b.url.replace('127.0.0.1', 'localhost')));
  t.notOk(await reaches(a.url));
});
