import { dialogs } from '../../data/dialogs.svelte.js';
import type { TreeRow } from '../../data/tree-rows.js';
import { workspace } from '../../data/workspace.svelte.js';
import type { MenuEntry } from '../../parts/menu.svelte';
import { copyAsCurl } from './copy-as-curl.js';

/** The menu of a line of the tree. */
export function treeMenu(row: TreeRow, rename: () => void): (MenuEntry | null)[] {
  const { id, method } = row.item;
  const folder = method === null ? id : row.parent;
  const own: (MenuEntry | null)[] =
    method === null
      ? [
          { label: 'Run…', keys: 'Ctrl+R', act: () => workspace.openRun(id) },
          { label: 'Authorization, scripts, variables', act: () => dialogs.attempt(() => workspace.openGroup(id)) },
          null,
        ]
      : [];
  return [
    ...own,
    { label: 'New request', act: () => workspace.addItem('request', folder) },
    { label: 'New folder', act: () => workspace.addItem('folder', folder) },
    null,
    { label: 'Rename', keys: 'F2', act: rename },
    { label: 'Duplicate', keys: 'Ctrl+D', act: () => workspace.duplicate(id) },
    { label: 'Move up', keys: 'Alt+↑', off: row.index === 0, act: () => workspace.move(id, row.parent, row.index - 1) },
    {
      label: 'Move down',
      keys: 'Alt+↓',
      off: row.index === row.siblings - 1,
      act: () => workspace.move(id, row.parent, row.index + 2),
    },
    { label: 'Delete', keys: 'Del', act: () => workspace.remove(id) },
    ...(method === null ? [] : [null, ...copyAsCurl(id)]),
  ];
}
