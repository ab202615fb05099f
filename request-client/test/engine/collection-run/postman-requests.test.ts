import t from 'tap';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { byTroupe } from './beside-newman.js';
import { caseFor, POSTMAN_CASES, startRecordingServer } from './postman-requests.js';

guardLeaks(t);

const server = await startRecordingServer();
t.teardown(() => server.close());

for (const one of POSTMAN_CASES) {
  t.test(one.name, async (t) => {
    const { collection, environment, sent } = caseFor(one, server);
    await byTroupe({ collection, environment });
    t.strictSame(server.take(), sent);
  });
}
