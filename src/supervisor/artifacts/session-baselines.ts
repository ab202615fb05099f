import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Baselines } from '../../agent-js/visual/baselines.js';
import type { Config } from '../../config.js';
import type { Journal } from '../../journal/journal.js';
import type { ApprovedBaseline } from '../../protocol/baseline.js';
import { TroupeError } from '../../protocol/errors.js';
import { type ComparedPictures, comparedPictures } from '../../protocol/report/compared-pictures.js';
import type { SessionId, SessionRecord } from '../../protocol/session.js';
import { journaledEvents } from '../events/index.js';
import type { ArtifactKeeper } from './artifact-keeper.js';
import { flowsDirOf } from './batch-flows.js';
import type { SharedFlows } from './shared-flows.js';

const PATH = /\.baselines\/[^/]+\.png$/;

export interface SessionBaselinesParts {
  readonly config: Pick<Config, 'flowsDir' | 'batchesDir'>;
  readonly journal: Journal;
  readonly keeper: ArtifactKeeper;
  /** With several nodes: notified of each change of the service's flows folder. */
  readonly shared?: Pick<SharedFlows, 'publish'> | undefined;
}

/**
 * Stores pictures of failed `agent.expectScreenshot` checks as baselines, where a job with `updateBaselines` would have
 * stored them: in the flows folder that the session used, and among its artifacts.
 */
export class SessionBaselines {
  readonly #parts: SessionBaselinesParts;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: SessionBaselinesParts) {
    this.#parts = parts;
  }

  /**
   * Approvals follow one another, so the baseline is still the compared one when it is replaced; a job that updates it in
   * this moment is not noticed. Idempotent.
   * @throws NOT_FOUND if the session has no such failed check, PRECONDITION_FAILED if the baseline is no longer the one
   *   that it was compared with, INVALID_REQUEST if a script made up the path
   */
  approve(record: SessionRecord, path: string): Promise<ApprovedBaseline> {
    const approving = this.#last.then(() => this.#approve(record, path));
    this.#last = approving.catch(() => undefined);
    return approving;
  }

  async #approve(record: SessionRecord, path: string): Promise<ApprovedBaseline> {
    const { config, keeper } = this.#parts;
    const compared = await this.#lastComparison(record.id, path);
    if (compared === null) {
      throw new TroupeError('NOT_FOUND', `No agent.expectScreenshot of the session failed on '${path.slice(0, 200)}'`);
    }
    if (!PATH.test(path)) throw refused(`'${path.slice(0, 200)}' is not the path of a baseline picture`);
    const flowsDir = flowsDirOf(config, record.batch);
    const baseline = { path, name: path };
    try {
      const received = await this.#picture(record, compared.received);
      return await keeper.add(record, async (dir) => {
        const artifactsDir = join(dir, 'baselines');
        const baselines = new Baselines({ flowsDir, artifactsDir, platform: '', updating: true });
        const current = await baselines.read(baseline);
        if (current === null || !current.equals(received)) {
          const expected = compared.expected === null ? null : await this.#picture(record, compared.expected);
          if (!isSame(current, expected)) {
            const message = `The baseline ${path} has changed since the session compared with it: run the flow again, and look at its pictures`;
            throw new TroupeError('PRECONDITION_FAILED', message);
          }
        }
        await baselines.write(baseline, received);
        if (flowsDir === config.flowsDir) await this.#parts.shared?.publish(path);
        const flows = flowsDir === config.flowsDir ? 'service' : 'run';
        return { baseline: path, bytes: received.byteLength, flows, artifact: `baselines/${path}` } as const;
      });
    } catch (error) {
      if (error instanceof TroupeError && error.code === 'SCRIPT_ERROR') throw refused(error.message);
      throw error;
    }
  }

  /** A retry compares again: its pictures are the newest. */
  async #lastComparison(id: SessionId, path: string): Promise<ComparedPictures | null> {
    let last: ComparedPictures | null = null;
    for await (const event of journaledEvents(this.#parts.journal, id)) {
      if (event.type !== 'StepFinished') continue;
      const pictures = comparedPictures(event.data.error?.details);
      if (pictures?.baseline === path) last = pictures;
    }
    return last;
  }

  async #picture(record: SessionRecord, file: string): Promise<Buffer> {
    return buffer((await this.#parts.keeper.screenshot(record, file)).stream);
  }
}

function isSame(one: Buffer | null, other: Buffer | null): boolean {
  return one === null || other === null ? one === other : one.equals(other);
}

function refused(message: string): TroupeError {
  return new TroupeError('INVALID_REQUEST', message, { issues: [{ path: 'baseline', message }] });
}
