import { defineRoute, type Route } from '../route.js';

export const homeRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/',
    summary: 'A page that says that the service runs, and how to begin.',
    async handle({ request }, sessions) {
      const { version, driver, capacity } = sessions.health();
      const text = homePage(request.base, `Troupe ${version}`, [
        `${capacity.running} of ${capacity.max} browsers run, ${capacity.queued} jobs wait (${driver} driver).`,
      ]);
      return { kind: 'text', status: 200, contentType: 'text/html; charset=utf-8', text };
    },
  }),
];

function homePage(base: string, name: string, lines: readonly string[]): string {
  const shell = [
    `ID=$(curl -s -X POST ${base}/api/sessions | sed 's/.*"sessionId":"\\([^"]*\\)".*/\\1/')`,
    `curl -s ${base}/sessions/$ID/proxy -d '{"js": "agent.go(\\"https://example.com\\"); agent.look()"}'`,
    `curl -s -X DELETE ${base}/api/sessions/$ID`,
  ].join('\n');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(name)}</title>
<style>
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 3rem auto; padding: 0 1rem; }
pre { overflow: auto; padding: 1rem; border: 1px solid; border-radius: 0.3rem; }
</style>
<h1>${escapeHtml(name)}</h1>
<p>The service runs. ${lines.map(escapeHtml).join(' ')}</p>
<p>A browser of your own, from a shell:</p>
<pre>${escapeHtml(shell)}</pre>
<p><a href="/api/sessions">Sessions</a> · <a href="/api/health">Health</a></p>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
