import { apiRoutes, type RouteParts } from '#troupe/gateway/routes/route-table.js';

/** What the routes of the service's own API are; their handlers have no service, and are not to be called. */
export const ROUTES = apiRoutes({} as RouteParts);
