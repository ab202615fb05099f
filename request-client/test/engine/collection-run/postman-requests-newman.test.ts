import t from 'tap';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { installNewman } from '../../newman.js';
import { byNewman } from './beside-newman.js';
import { caseFor, POSTMAN_CASES, startRecordingServer } from './postman-requests.js';

guardLeaks(t);

const skip = await installNewman();
const server = await startRecordingServer();
t.teardown(() => server.close());

for (const one of POSTMAN_CASES) {
  t.test(`Newman: ${one.name}`, { skip }, async (t) => {
    const { collection, environment, sent } = caseFor(one, server);
    await byNewman({ collection, environment });
    const heard = server.take();
    if (one.unlikeNewman === undefined) t.strictSame(heard, sent);
    else t.strictNotSame(heard, sent, one.unlikeNewman);
  });
}
