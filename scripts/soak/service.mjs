// The soaked service, in a process of its own: what its clients hold is not taken for its own. A child of ./soak.mjs, which
// it tells its URL. To `measure` it answers what it holds; at `warm` its warm-up is over; to `stop` it stops.
import { readConfig } from '#troupe/config.js';
import { startService } from '#troupe/service.js';
import { GarbageCollector } from './garbage-collector.mjs';
import { measure } from './measure.mjs';
import { Optimizer } from './optimizer.mjs';

const collector = new GarbageCollector();
await collector.attach();
const optimizer = new Optimizer();
optimizer.hurry();
const service = await startService(readConfig({ port: '0' }, process.env), { version: 'soak', log: () => undefined });
process.on('message', async (order) => {
  switch (order) {
    case 'measure':
      process.send(await measure(collector));
      break;
    case 'warm':
      optimizer.asUsual();
      break;
    default:
      await service.stop({ drainMs: 0 });
      process.disconnect();
  }
});
process.on('disconnect', () => process.exit(0));
process.send(service.url);
