import { DOCUMENT_ROUTES } from './routes/document-routes.js';
import { ENVIRONMENT_ROUTES } from './routes/environment-routes.js';
import { HISTORY_ROUTES } from './routes/history-routes.js';
import { ITEM_ROUTES } from './routes/item-routes.js';
import { SETTINGS_ROUTES } from './routes/settings-routes.js';
import type { WindowRoute } from './routes/window-route.js';

/** All routes of the page, except sign-in, the bytes of bodies, and quit. */
export const WINDOW_ROUTES: readonly WindowRoute[] = [
  ...DOCUMENT_ROUTES,
  ...ITEM_ROUTES,
  ...ENVIRONMENT_ROUTES,
  ...HISTORY_ROUTES,
  ...SETTINGS_ROUTES,
];
