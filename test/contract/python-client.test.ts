import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { openHouse } from '../support/house.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';

guardLeaks(t);

/** Makes a client of the OpenAPI document, a method for each operation, with nothing but Python's own library; drives a session with it. */
const CLIENT = `
import json, sys, urllib.error, urllib.parse, urllib.request

base = sys.argv[1]

def send(method, path, body=None, query=None):
    data = None if body is None else json.dumps(body).encode()
    url = base + path + ("?" + urllib.parse.urlencode(query) if query else "")
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, method=method), timeout=60) as answer:
            return json.loads(answer.read() or "null")
    except urllib.error.HTTPError as error:
        return json.loads(error.read())

class Client:
    pass

count = 0
for path, operations in send("GET", "/api/openapi.json")["paths"].items():
    for method, operation in operations.items():
        name = operation["operationId"]
        assert not hasattr(Client, name), name
        def call(self, body=None, query=None, method=method.upper(), path=path, **names):
            return send(method, path.format(**{k: urllib.parse.quote(v, safe="") for k, v in names.items()}), body, query)
        setattr(Client, name, call)
        count += 1

troupe = Client()
session = troupe.postApiSessions({"name": "from Python"})
assert "id" in session, session
print(json.dumps({
    "operations": count,
    "result": troupe.postSessionsIdProxy({"js": "1 + 1"}, id=session["id"]),
    "error": troupe.postSessionsIdProxy({"js": "null.x"}, id=session["id"])["code"],
    "listed": [one["name"] for one in troupe.getApiSessions(query={"state": "running"})],
    "stopped": (troupe.deleteApiSessionsId(id=session["id"]), troupe.getApiSessionsId(id=session["id"])["status"])[1],
}))
`;

t.test('A Python client made of the OpenAPI document drives a session', { skip: skipWithout('python3') }, async (t) => {
  const house = await openHouse(t, { maxSessions: 1 });
  const { url } = await house.listen();
  const script = join(t.testdir({ 'client.py': CLIENT }), 'client.py');
  const { stdout } = await promisify(execFile)('python3', [script, url], { timeout: 60_000 });
  const { operations, ...rest } = JSON.parse(stdout);
  t.ok(operations > 30, 'each operation has an id of its own');
  t.same(rest, {
    result: 2,
    error: 'SCRIPT_ERROR',
    listed: ['from Python'],
    stopped: 'stopped',
  });
});
