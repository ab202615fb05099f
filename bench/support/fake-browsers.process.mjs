// Browsers as far as a session that never looks at its page needs them: a DevTools endpoint on a real WebSocket that has
// one page, and answers every command with the least that is an answer. In a process of its own, so that what is measured
// beside it is the service alone.
import { WebSocketServer } from 'ws';

const ANSWERS = {
  'Browser.getVersion': { product: 'Fake/1', userAgent: 'Fake/1' },
  'Page.getFrameTree': { frameTree: { frame: { id: 'F', loaderId: 'L', url: 'about:blank' } } },
  'Page.createIsolatedWorld': { executionContextId: 1 },
  'Page.addScriptToEvaluateOnNewDocument': { identifier: '1' },
  'Runtime.evaluate': { result: { type: 'number', value: 1 } },
  'Target.attachToBrowserTarget': { sessionId: 'B' },
  'Target.createTarget': { targetId: 'T' },
};
const PAGE = { targetId: 'T', type: 'page', title: '', url: 'about:blank', attached: true };

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
server.on('connection', (socket) => {
  const send = (message) => socket.send(JSON.stringify(message));
  socket.on('message', (data) => {
    const { id, method, sessionId } = JSON.parse(data);
    if (method === 'Target.setAutoAttach' && sessionId === 'B') {
      const params = { sessionId: 'S', targetInfo: PAGE, waitingForDebugger: false };
      send({ method: 'Target.attachedToTarget', params, sessionId });
    }
    send({ id, result: ANSWERS[method] ?? {}, ...(sessionId === undefined ? {} : { sessionId }) });
  });
});
server.on('listening', () => process.send(server.address().port));
process.on('disconnect', () => process.exit(0));
