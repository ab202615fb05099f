import { dynamicNames } from '../../engine/collection-run/postman-modules.js';
import { ClientSettings, CookieKey, CookieRow } from '../../protocol/request-settings.js';
import { WindowSizes } from '../../protocol/request-window.js';
import { checked } from '../checked.js';
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
  { method: 'GET', path: at('window'), answer: ({ workspace }) => workspace.state.view },
  { method: 'GET', path: at('dynamic-variables'), answer: () => dynamicNames() },
  {
    method: 'PUT',
    path: at('window/sizes'),
    answer: async ({ workspace, body }) => {
      await workspace.state.resize(checked(WindowSizes, body));
      return workspace.state.view;
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
