/** Section 6.5 of W3C WebDriver: method and path of each command of a session, with `*` for an id or a name. */
export const W3C_ROUTES: readonly string[] = [
  ...['GET timeouts', 'POST timeouts', 'POST url', 'GET url', 'POST back', 'POST forward', 'POST refresh', 'GET title'],
  ...['GET window', 'DELETE window', 'POST window', 'GET window/handles', 'POST window/new'],
  ...['POST frame', 'POST frame/parent', 'GET window/rect', 'POST window/rect'],
  ...['POST window/maximize', 'POST window/minimize', 'POST window/fullscreen'],
  ...['GET element/active', 'GET element/*/shadow', 'POST element', 'POST elements'],
  ...['POST element/*/element', 'POST element/*/elements', 'POST shadow/*/element', 'POST shadow/*/elements'],
  ...['GET element/*/selected', 'GET element/*/attribute/*', 'GET element/*/property/*', 'GET element/*/css/*'],
  ...['GET element/*/text', 'GET element/*/name', 'GET element/*/rect', 'GET element/*/enabled'],
  ...['GET element/*/computedrole', 'GET element/*/computedlabel'],
  ...['POST element/*/click', 'POST element/*/clear', 'POST element/*/value'],
  ...['GET source', 'POST execute/sync', 'POST execute/async'],
  ...['GET cookie', 'GET cookie/*', 'POST cookie', 'DELETE cookie/*', 'DELETE cookie'],
  ...['POST actions', 'DELETE actions'],
  ...['POST alert/dismiss', 'POST alert/accept', 'GET alert/text', 'POST alert/text'],
  ...['GET screenshot', 'GET element/*/screenshot', 'POST print'],
];

/** Those that need no window, so that a closed one is no bad input for them. */
const WITHOUT_WINDOW = /^(GET|POST) timeouts$|^POST window$|^GET window\/handles$|^\w+ alert\//;

/** Those of which a closed window is the only bad input, or one of several. */
export const NEEDING_A_WINDOW = W3C_ROUTES.filter((route) => !WITHOUT_WINDOW.test(route));

/** The route of a request below a session. */
export function routeOf(method: string, path: string): string {
  const route = path
    .replace(/^(element|shadow)\/(?!active$)[^/]+/, '$1/*')
    .replace(/(attribute|property|css|cookie)\/[^/]+$/, '$1/*');
  return `${method} ${route}`;
}
