// A node of several that share a database, whose browsers cost nothing: started by `bench/cluster.mjs` with its settings.
// Sends its port once it serves, and ends when it is told to.
import { benchService } from './bench-service.mjs';

const settings = JSON.parse(process.env.TROUPE_BENCH_NODE ?? '{}');
const service = await benchService(settings, {
  port: settings.port,
  flows: { 'count.js': '() => 6 * 7' },
});
process.send?.({ port: service.port });
process.once('message', async () => {
  await service.stop();
  process.disconnect();
});
