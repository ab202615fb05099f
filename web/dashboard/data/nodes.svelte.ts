import type { NodeInfo } from '../../../src/protocol/answers.js';
import { ApiError, call } from './api.js';

/** The services that share a database; none if this one is alone, or if the viewer may not see them. */
class NodeList {
  all = $state.raw<readonly NodeInfo[]>([]);

  /** @throws ApiError; TypeError if the service is not reachable */
  async load(): Promise<void> {
    try {
      this.all = await call<NodeInfo[]>('GET', 'api/nodes');
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error;
      this.all = [];
    }
  }
}

export const nodeList = new NodeList();
