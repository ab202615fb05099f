import { ClientSettings, CookieKey, CookieRow } from '../../../protocol/requests/request-settings.js';
import { OpenTabs, RUN_TAB, WindowSizes, type WindowView } from '../../../protocol/requests/request-window.js';
import { dynamicNames } from '../../collection/postman-modules.js';
import { checked } from '../checked.js';
import type { Workspace } from '../workspace.js';
import { at, type WindowRoute } from './window-route.js';

/** The settings, the cookies of the window, and what it keeps from start to start. */
export const SETTINGS_ROUTES: readonly WindowRoute[] = [
  { method: 'GET', path: at('settings'), answer: ({ workspace }) => workspace.settings },
  {
    method: 'PUT',
    path: at('settings'),
    answer: async ({ workspace, body }) => {
      await workspace.changeSettings(checked(ClientSettings, body));
      return workspace.settings;
    },
  },
  { method: 'GET', path: at('window'), answer: ({ workspace }) => viewOf(workspace) },
  { method: 'GET', path: at('dynamic-variables'), answer: () => dynamicNames() },
  {
    method: 'PUT',
    path: at('window/sizes'),
    answer: async ({ workspace, body }) => {
      await workspace.state.resize(checked(WindowSizes, body));
      return viewOf(workspace);
    },
  },
  {
    method: 'PUT',
    path: at('window/tabs'),
    answer: async ({ workspace, body }) => {
      await keepTabs(workspace, checked(OpenTabs, body));
      return {};
    },
  },
  { method: 'GET', path: at('cookies'), answer: ({ workspace }) => workspace.cookies.list() },
  {
    method: 'PUT',
    path: at('cookies'),
    answer: async ({ workspace, body }) => {
      await workspace.cookies.put(checked(CookieRow, body));
      return await workspace.cookies.list();
    },
  },
  {
    method: 'POST',
    path: at('cookies/remove'),
    answer: async ({ workspace, body }) => {
      await workspace.cookies.delete(checked(CookieKey, body));
      return await workspace.cookies.list();
    },
  },
  {
    method: 'DELETE',
    path: at('cookies'),
    answer: async ({ workspace }) => {
      await workspace.cookies.deleteAll();
      return await workspace.cookies.list();
    },
  },
];

function viewOf({ state, document }: Workspace): WindowView {
  const kept = document.path === null ? [] : state.tabsOf(document.path);
  // The file may have been changed since.
  const tabs = kept.flatMap(({ path, name, active, run }) => {
    const id = document.idOf(path);
    if (id === undefined || document.collection.nameAt(path) !== name) return [];
    return [{ id: run ? `${RUN_TAB}${id}` : id, active }];
  });
  return {
    recent: state.recent,
    sizes: state.sizes,
    tabs: { ids: tabs.map(({ id }) => id), active: tabs.find(({ active }) => active)?.id ?? null },
  };
}

/** A collection without a file is not known after the next start. */
async function keepTabs({ state, document }: Workspace, { ids, active }: OpenTabs): Promise<void> {
  const file = document.path;
  if (file === null) return;
  const tabs = ids.flatMap((id) => {
    const run = id.startsWith(RUN_TAB);
    const path = document.findPath(run ? id.slice(RUN_TAB.length) : id);
    return path === undefined ? [] : [{ path, name: document.collection.nameAt(path), active: id === active, run }];
  });
  await state.keepTabs(file, tabs);
}
