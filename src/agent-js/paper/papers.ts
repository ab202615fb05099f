import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { asAbsent, sentenceOf } from '../../base/system-fault.js';
import { writeFile } from '../../files/thread-files.js';
import { TroupeError } from '../../protocol/errors.js';
import type { HostCall, HostCallContext } from '../../script/host-module.js';
import { type Bounds, boundsOf, remainingMs } from '../browser/bounds.js';
import { membersOf, misuse, shown, timeoutOf } from '../call-arguments.js';
import { callSource } from '../call-source.js';
import { settled } from '../look/settled.js';
import type { Steps } from '../steps.js';
import type { Tab } from '../tabs/tab.js';
import type { Tabs } from '../tabs/tabs.js';

/** A long page takes seconds to print. */
const PDF_MS = 30_000;
const MAX_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 4 * 1024 * 1024;
/** A file name that every system can have. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} _-]{0,79}$/u;

/** A PDF in the artifacts. */
export interface Paper {
  /** A name in the folder `pdf`. */
  readonly file: string;
  readonly bytes: number;
}

/** `agent.pdf`: the page as it is printed, as a file in the session's artifacts. One step. */
export class Papers {
  readonly calls: { readonly [method: string]: HostCall };
  readonly #parts: {
    readonly tabs: Tabs;
    readonly steps: Steps;
    readonly dir: string;
    readonly redact: <T>(shown: T) => T;
  };

  /** @param parts.dir made with the first file */
  constructor(parts: {
    readonly tabs: Tabs;
    readonly steps: Steps;
    readonly dir: string;
    readonly redact: <T>(shown: T) => T;
  }) {
    this.#parts = parts;
    this.calls = { pdf: ([options], context) => this.#print(options, context) };
  }

  #print(options: unknown, context: HostCallContext): Promise<Paper> {
    const { tabs, steps, dir, redact } = this.#parts;
    const { name, landscape, timeoutMs } = paperOptions(options);
    const args = options === null || options === undefined ? [] : [options];
    const call = {
      method: 'pdf',
      shownArgs: () => [],
      source: () => redact(callSource('pdf', args)),
      touched: () => false,
      tab: () => (tabs.all.length === 0 ? undefined : tabs.active),
      picture: 'after',
    } as const;
    return steps.run(call, context.site, async (file) => {
      const tab = tabs.active;
      const bounds = boundsOf(context, timeoutMs);
      if (tab.dialog !== null) throw tab.dialogError();
      await settled(tab, bounds);
      const pdf = await printed(tab, landscape, bounds);
      // The number of the step keeps names apart.
      const [number = ''] = file().split('-');
      return keep(pdf, dir, `${number}-${redact(name)}.pdf`);
    });
  }
}

function paperOptions(options: unknown): { name: string; landscape: boolean; timeoutMs: number } {
  const {
    name = 'page',
    landscape = false,
    timeout,
  } = membersOf(options, 'agent.pdf', ['name', 'landscape', 'timeout']);
  if (typeof name !== 'string' || !NAME.test(name) || name.endsWith(' ')) {
    throw misuse(`name is letters, digits, spaces and _- (80 at most), not ${shown(name)}`);
  }
  if (typeof landscape !== 'boolean') throw misuse(`landscape is true or false, not ${shown(landscape)}`);
  return { name, landscape, timeoutMs: timeoutOf(timeout) ?? PDF_MS };
}

/** The page in the size that its own style asks for, otherwise A4, with its backgrounds. @throws ACTION_FAILED, WAIT_TIMEOUT */
async function printed(tab: Tab, landscape: boolean, bounds: Bounds): Promise<Buffer> {
  const paper = {
    paperWidth: 210 / 25.4,
    paperHeight: 297 / 25.4,
    landscape,
    printBackground: true,
    preferCSSPageSize: true,
  };
  const order = tab.command('Page.printToPDF', { ...paper, transferMode: 'ReturnAsStream' }, bounds);
  const asked = await tab.unlessDialog(order, bounds);
  if (asked === 'dialog') throw tab.dialogError();
  const { stream: handle } = asked.value;
  if (handle === undefined) throw new TroupeError('ACTION_FAILED', 'The browser does not print this page');
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const { data, base64Encoded, eof } = await tab.command('IO.read', { handle, size: CHUNK_BYTES }, bounds);
      const chunk = Buffer.from(data, base64Encoded === true ? 'base64' : 'utf8');
      bytes += chunk.byteLength;
      if (bytes > MAX_BYTES) {
        throw new TroupeError('ACTION_FAILED', `The PDF of this page has more than ${MAX_BYTES} bytes`);
      }
      chunks.push(chunk);
      if (eof) return Buffer.concat(chunks);
    }
  } finally {
    tab.send('IO.close', { handle }, Math.max(1_000, remainingMs(bounds))).catch(() => undefined);
  }
}

/** @throws a fault of the system, or ACTION_FAILED with what keeps it from being written; nothing of it is left then */
async function keep(pdf: Buffer, dir: string, file: string): Promise<Paper> {
  const path = join(dir, file);
  try {
    await mkdir(dir, { recursive: true });
    await writeFile(path, pdf);
    return { file, bytes: pdf.byteLength };
  } catch (error) {
    await rm(path, { force: true }).catch(() => undefined);
    asAbsent(error);
    const message = `The PDF cannot be written: ${sentenceOf(error)}`;
    throw new TroupeError('ACTION_FAILED', message, undefined, { cause: error });
  }
}
