import { browserlessRoutes } from '../browserless/browserless-routes.js';
import type { Route } from '../route.js';
import { accessRoutes } from './access.js';
import { artifactRoutes } from './artifacts.js';
import { batchRoutes } from './batches.js';
import { controlRoutes } from './control.js';
import { eventRoutes } from './events.js';
import { fileRoutes } from './files.js';
import { flowRoutes } from './flows.js';
import { jobRoutes } from './jobs.js';
import { joinedRoutes } from './joined.js';
import { mcpRoutes } from './mcp.js';
import { modelRoutes } from './models.js';
import { monitoringRoutes, nodeRoutes } from './monitoring.js';
import { openApiRoutes } from './openapi.js';
import { pageRoutes } from './pages.js';
import { scriptRoutes } from './scripts.js';
import { sessionRoutes } from './sessions.js';
import { suiteRoutes } from './suites.js';
import { webDriverRoutes } from './webdriver.js';
import { webhookRoutes } from './webhooks.js';

/**
 * Every route of Troupe's own API. The OpenAPI document has these; the routes of WebDriver and browserless are described
 * by their own documents.
 */
export const ROUTES: readonly Route[] = [
  ...pageRoutes,
  ...monitoringRoutes,
  ...modelRoutes,
  ...sessionRoutes,
  ...jobRoutes,
  ...batchRoutes,
  ...joinedRoutes,
  ...suiteRoutes,
  ...scriptRoutes,
  ...controlRoutes,
  ...accessRoutes,
  ...fileRoutes,
  ...artifactRoutes,
  ...flowRoutes,
  ...eventRoutes,
  ...mcpRoutes,
  ...webhookRoutes,
  ...nodeRoutes,
  ...openApiRoutes(() => ROUTES),
];

/** All routes that the gateway serves. */
export const SERVED_ROUTES: readonly Route[] = [...ROUTES, ...webDriverRoutes, ...browserlessRoutes];
