import type { WebDriver } from '../../webdriver/web-driver.js';
import { browserlessRoutes } from '../browserless/browserless-routes.js';
import { discoveryRoutes } from '../browserless/discovery-routes.js';
import type { Route } from '../route.js';
import type { TraceViewer } from '../trace-viewer/trace-viewer.js';
import { type Access, accessRoutes } from './access.js';
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
import { type Monitoring, monitoringRoutes, nodeRoutes } from './monitoring.js';
import { openApiRoutes } from './openapi.js';
import { pageRoutes } from './pages.js';
import { scriptRoutes } from './scripts.js';
import { sessionRoutes } from './sessions.js';
import { suiteRoutes } from './suites.js';
import { traceRoutes } from './traces.js';
import { webDriverRoutes } from './webdriver.js';
import { webhookRoutes } from './webhooks.js';

/** What routes need besides a request and the sessions. */
export interface RouteParts extends Access, Monitoring {
  readonly traceViewer: TraceViewer;
  readonly webDriver: WebDriver;
}

/**
 * Every route of Troupe's own API. The OpenAPI document has these; the routes of WebDriver, browserless, and Chrome are
 * described by their own documents.
 */
export function apiRoutes(parts: RouteParts): readonly Route[] {
  const routes: readonly Route[] = [
    ...pageRoutes,
    ...monitoringRoutes(parts),
    ...modelRoutes,
    ...sessionRoutes,
    ...traceRoutes(parts.traceViewer),
    ...jobRoutes,
    ...batchRoutes,
    ...joinedRoutes,
    ...suiteRoutes,
    ...scriptRoutes(parts.publicBase),
    ...controlRoutes(parts.publicBase),
    ...accessRoutes(parts),
    ...fileRoutes,
    ...artifactRoutes,
    ...flowRoutes,
    ...eventRoutes,
    ...mcpRoutes,
    ...webhookRoutes,
    ...nodeRoutes,
    ...openApiRoutes(() => routes),
  ];
  return routes;
}

/** All routes that the gateway serves. */
export function servedRoutes(parts: RouteParts): readonly Route[] {
  return [
    ...apiRoutes(parts),
    ...webDriverRoutes(parts.webDriver),
    ...browserlessRoutes,
    ...discoveryRoutes(parts.publicBase),
  ];
}
