import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { encodeError } from '../protocol/errors.js';
import { HostBridge } from './host-bridge.js';
import type { ThreadBoot, ThreadMessage } from './script-messages.js';
import { ScriptRuntime } from './script-runtime.js';

if (parentPort === null) throw new Error('This module is the entry of a script thread');
void serveScripts(parentPort, workerData);

/**
 * The main function of a script thread: creates the engine, reports that it is ready, and runs scripts one after
 * another. Never rejects, and does not settle once the engine exists: the thread sleeps between scripts until its owner
 * ends it.
 */
async function serveScripts(port: MessagePort, boot: ThreadBoot): Promise<void> {
  const send = (message: ThreadMessage): void => port.postMessage(message);
  const bridge = new HostBridge(boot.control, boot.inbox, send);
  let runtime: ScriptRuntime;
  try {
    runtime = await ScriptRuntime.create(boot, bridge);
  } catch (error) {
    send({ type: 'failed', error: encodeError(error) });
    return;
  }
  send({ type: 'ready' });
  while (true) {
    const message = bridge.next();
    send({ type: 'done', run: message.run, outcome: runtime.run(message) });
  }
}
