// A service that leases a browser, writes its identity to stdout and dies without a chance to tidy up.
import { writeSync } from 'node:fs';
import { NetworkGate } from '#troupe/containers/gate/network-gate.js';
import { ProcessDriver } from '#troupe/containers/process/process-driver.js';

const { chromium, workDir, leaseId } = JSON.parse(process.argv[2]);
const setting = { ownPort: 0, ownNames: [], hostAddress: null, forward: [], egress: {}, loopback: 'open' };
const network = new NetworkGate(setting, () => undefined);
const sandbox = process.env.TROUPE_CHROMIUM_SANDBOX !== 'false';
const where = { home: workDir, workDir, instance: 'test' };
const driver = await ProcessDriver.create({ chromium, sandbox, network, ownPort: 1, ...where });
const bounds = { signal: new AbortController().signal, deadlineMs: 30_000 };
const lease = await driver.lease({ leaseId, viewport: { width: 800, height: 600 } }, bounds);
writeSync(1, JSON.stringify(lease.identity));
process.kill(process.pid, 'SIGKILL');
