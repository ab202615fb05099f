import declarations from 'troupe:script-types';
import { callText } from '../data/api.js';
import { flowOf } from '../data/flow-stats.js';
import { filesOf, flowTree } from '../data/flow-tree.js';
import { parseScriptTypes } from './script-types.js';
import { callsIn, type Surroundings } from './suggest.js';

/** What is suggested in an editor, without elements of a page. What cannot be loaded is not suggested. */
export async function loadSurroundings(prompt: 'prompt' | `sessions/${string}/prompt`): Promise<Surroundings> {
  const [document, tree] = await Promise.all([callText(prompt).catch(() => ''), flowTree().catch(() => [])]);
  const flows = filesOf(tree).flatMap(({ kind, path }) => (kind === 'flow' ? [flowOf(path)] : []));
  return { calls: callsIn(document), elements: [], flows, types: parseScriptTypes(declarations) };
}
