import type { Route } from '../route.js';
import { batchRoutes } from './batches.js';
import { controlRoutes } from './control.js';
import { devToolsRoutes } from './devtools.js';
import { eventRoutes } from './events.js';
import { fileRoutes } from './files.js';
import { flowRoutes } from './flows.js';
import { healthRoutes } from './health.js';
import { jobRoutes } from './jobs.js';
import { loginRoutes } from './login.js';
import { mcpRoutes } from './mcp.js';
import { metricsRoutes } from './metrics.js';
import { modelRoutes } from './models.js';
import { openApiRoutes } from './openapi.js';
import { pageRoutes } from './pages.js';
import { promptRoutes } from './prompt.js';
import { proxyRoutes } from './proxy.js';
import { sessionRoutes } from './sessions.js';
import { shareRoutes } from './share.js';
import { statsRoutes } from './stats.js';
import { tokenRoutes } from './tokens.js';
import { webhookRoutes } from './webhooks.js';

/** Every route of the service. */
export const ROUTES: readonly Route[] = [
  ...pageRoutes,
  ...loginRoutes,
  ...healthRoutes,
  ...modelRoutes,
  ...metricsRoutes,
  ...sessionRoutes,
  ...jobRoutes,
  ...batchRoutes,
  ...proxyRoutes,
  ...controlRoutes,
  ...shareRoutes,
  ...devToolsRoutes,
  ...promptRoutes,
  ...fileRoutes,
  ...flowRoutes,
  ...statsRoutes,
  ...eventRoutes,
  ...mcpRoutes,
  ...tokenRoutes,
  ...webhookRoutes,
  ...openApiRoutes(() => ROUTES),
];
