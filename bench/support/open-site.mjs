// A site of one page.
import { createServer } from 'node:http';

/** Give it back with `close`. */
export async function openSite(html, host = '127.0.0.1') {
  const site = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(html);
  });
  await new Promise((resolve) => site.listen(0, host, resolve));
  const { port } = site.address();
  return {
    port,
    origin: `http://${host}:${port}/`,
    close: () => new Promise((resolve) => site.close(resolve).closeAllConnections()),
  };
}
