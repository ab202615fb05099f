import { writeFile } from 'node:fs/promises';
import { browserCommand } from '../config.js';
import { EVENT_DATA } from '../protocol/events.js';
import { flowLines } from '../protocol/recording/flow-lines.js';
import { playwrightFile } from '../protocol/recording/playwright-lines.js';
import { Recording } from '../protocol/recording/recording.js';
import { SessionRecord } from '../protocol/session.js';
import { openBrowser } from '../request-client/oauth/open-browser.js';
import { describeFailure, UsageError } from './failure.js';
import { type UsedService, useService } from './own-service.js';
import { parseWords } from './parse-options.js';
import { watchSignals } from './watch-signals.js';

/** A person may think for so long before the session ends. */
const IDLE_S = 3_600;

/**
 * `troupe record URL`: what a person does in a session becomes a flow, until Ctrl-C or the session's end. The flow goes to
 * standard output or `--out`, what else there is to say to standard error.
 *
 * @returns 0 done, 1 it failed, 2 it could not run
 */
export async function runRecord(args: readonly string[]): Promise<number> {
  const { page, out, playwright, open, url, own, forward } = readOptions(args);
  const service = await useService({ url, own, sessions: 1 }).catch((error: unknown) => {
    process.stderr.write(`troupe: ${describeFailure(error)}\n`);
    return null;
  });
  if (service === null) return 2;
  const signals = watchSignals();
  const recording = new Recording();
  const write = async (isLast: boolean): Promise<void> => {
    const lines = flowLines(recording);
    const text = playwright ? playwrightFile(recording) : `${lines.join('\n')}\n`;
    if (out !== undefined) await writeFile(out, text);
    else if (isLast) process.stdout.write(text);
  };
  try {
    const { id } = await begin(service, page, forward);
    const address = `${service.client.url}/#/sessions/${id}`;
    process.stderr.write(
      `Take control at ${address}\nAlt+Shift+click asserts what is there; Ctrl-C ends the recording\n`,
    );
    if (open) await openBrowser(address, browserCommand()).catch(() => undefined);
    const over = new AbortController();
    void signals.first.then(() => over.abort());
    await follow(service, id, recording, over.signal, () => write(false));
    if (over.signal.aborted) await service.client.json('POST', `/api/sessions/${id}/recording`, { recording: false });
    await service.client.json('DELETE', `/api/sessions/${id}`);
    await follow(service, id, recording, new AbortController().signal, async () => undefined);
    await write(true);
    const left = flowLines(recording).filter((line) => line.startsWith('// Not recorded')).length;
    if (left > 0) process.stderr.write(`${left} acts could not be recorded; the flow says which\n`);
    return 0;
  } catch (error) {
    await write(true);
    process.stderr.write(`troupe: ${describeFailure(error)}\n`);
    return 1;
  } finally {
    signals.release();
    await service.close();
  }
}

async function begin({ client }: UsedService, page: string, forward: readonly number[]): Promise<{ id: string }> {
  const request = { name: 'troupe record', idleTimeout: IDLE_S, forward };
  const { id } = SessionRecord.parse(await client.json('POST', '/api/sessions', request));
  await client.json('POST', `/api/sessions/${id}/recording`, { recording: true });
  await client.json('POST', `/sessions/${id}/proxy`, { js: `agent.go(${JSON.stringify(page)})` });
  return { id };
}

/** Takes in the session's acts until it ends or the signal comes; from the beginning each time. */
async function follow(
  { client }: UsedService,
  id: string,
  recording: Recording,
  signal: AbortSignal,
  changed: () => Promise<void>,
): Promise<void> {
  recording.clear();
  let restarted = false;
  try {
    for await (const { type, data } of client.events(`/api/sessions/${id}/events`, signal)) {
      if (type === 'ActRecorded') {
        const { act, replaces } = EVENT_DATA.ActRecorded.parse(data);
        recording.add(act, replaces);
        await changed();
      } else if (type === 'SessionRestarted') restarted = true;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (restarted) process.stderr.write('The session was restarted; what came after that was not recorded\n');
}

function readOptions(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values, positionals } = parseWords(args, {
    ...{ out: text, playwright: flag, 'no-open': flag, url: text, own: flag, forward: text },
  });
  const [page, ...others] = positionals;
  if (page === undefined || others.length > 0) throw new UsageError('record takes the address of one page');
  if (!URL.canParse(page) || !/^https?:/.test(page)) throw new UsageError(`'${page}' is no http or https address`);
  const forward = values.forward?.split(',').map(Number) ?? [];
  if (forward.some((port) => !Number.isInteger(port) || port < 1 || port > 65_535))
    throw new UsageError('--forward takes ports, with commas');
  const { out, url, own, playwright = false } = values;
  return { page, out, playwright, open: values['no-open'] !== true, url, own, forward };
}
