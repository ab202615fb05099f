import type { MessagePort } from 'node:worker_threads';
import { encodeError } from '../protocol/errors.js';
import type { RunMessage, ThreadBoot, ThreadMessage } from './script-messages.js';
import { ScriptRuntime } from './script-runtime.js';

/** The whole of a script thread: makes the engine, says so, and runs what comes, one after another. Never rejects. */
export async function serveScripts(port: MessagePort, boot: ThreadBoot): Promise<void> {
  const send = (message: ThreadMessage): void => port.postMessage(message);
  try {
    const runtime = await ScriptRuntime.create(boot, send);
    port.on('message', (message: RunMessage) => {
      send({ type: 'done', run: message.run, outcome: runtime.run(message) });
    });
    send({ type: 'ready' });
  } catch (error) {
    send({ type: 'failed', error: encodeError(error) });
  }
}
