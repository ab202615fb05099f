import { TroupeError } from '#troupe/protocol/errors.js';
import type { CollectionNode } from '../engine/collection/collection.js';
import { asObject, type JsonObject, member } from '../engine/collection/json-access.js';
import { readRequest } from '../engine/collection/read-request.js';
import { passed, type RequestResult } from '../engine/collection-run/result.js';
import type { HistoryLine, SentView } from '../protocol/request-window.js';
import type { HistoryFile } from './history-file.js';
import { maskRequest, maskText } from './mask-request.js';
import { SentHistory } from './sent-history.js';

/** A request that was sent. */
export interface SentRequest {
  readonly result: RequestResult;
  readonly node: CollectionNode;
  /** The request's id in the open document. */
  readonly itemId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The history: requests, as written, are kept from start to start, answers until the window is closed. */
export class History {
  readonly answers = new SentHistory();
  readonly #file: HistoryFile;

  constructor(file: HistoryFile) {
    this.#file = file;
  }

  /** Takes ownership of the result and its response. `hide` masks known secrets in a text. */
  async add({ result, node, itemId, at }: SentRequest, hide: (text: string) => string): Promise<SentView> {
    const sent = await this.answers.add(result, itemId, at, hide);
    const behaviour = asObject(member(node.value, 'protocolProfileBehavior'));
    await this.#file.add(
      {
        at,
        name: node.name,
        method: sent.method,
        url: maskText(readRequest(node.value).url, hide),
        status: sent.response?.status ?? null,
        durationMs: Math.round(sent.durationMs),
        passed: passed(result),
        item: {
          name: node.name,
          ...(behaviour === undefined ? {} : { protocolProfileBehavior: behaviour }),
          request: maskRequest(member(node.value, 'request'), hide),
        },
      },
      sent.id,
    );
    return sent;
  }

  /** Newest first. */
  get lines(): HistoryLine[] {
    return this.#file.entries.map(({ item, sentId, ...line }) => ({
      ...line,
      sentId: sentId !== null && this.answers.find(sentId) !== undefined ? sentId : null,
      whole: item !== null,
    }));
  }

  /** The collection item of a line. @throws NOT_FOUND */
  item(id: string): JsonObject {
    const item = this.#file.entries.find((entry) => entry.id === id)?.item;
    if (item == null) throw new TroupeError('NOT_FOUND', 'This request is no longer in the history');
    return item;
  }

  /** Removes everything, also on disk. */
  async clear(): Promise<void> {
    await this.#file.clear();
    await this.answers.clear();
  }

  /** Disposes of the answers. Idempotent. */
  async close(): Promise<void> {
    await this.answers.clear();
  }
}
