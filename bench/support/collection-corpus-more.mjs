// The rest of the corpus.
import { before, get, named, test } from './collection-parts.mjs';

export const MORE_COLLECTIONS = [
  named('Uploads and forms', {
    item: [
      {
        name: 'form',
        event: [
          test(
            'pm.test("fields", () => pm.expect(pm.response.json().form).to.eql({a: "1 2", "b&": "ü{"}));',
            'pm.test("data", () => pm.expect(request.data.a).to.eql("1 2"));',
          ),
        ],
        request: {
          method: 'POST',
          body: {
            mode: 'urlencoded',
            urlencoded: [
              { key: 'a', value: '1 2' },
              { key: 'b&', value: 'ü{' },
              { key: 'off', value: 'x', disabled: true },
            ],
          },
          url: '{{base}}/post',
        },
      },
      {
        name: 'multipart',
        event: [test('pm.test("parts", () => pm.expect(pm.response.json().files).to.include({text: "hello"}));')],
        request: {
          method: 'POST',
          body: { mode: 'formdata', formdata: [{ key: 'text', value: 'hello', type: 'text' }] },
          url: '{{base}}/post',
        },
      },
      {
        name: 'graphql',
        event: [test('pm.test("query", () => pm.expect(pm.response.json().json.variables).to.eql({id: 1}));')],
        request: {
          method: 'POST',
          body: {
            mode: 'graphql',
            graphql: { query: 'query($id: Int) { item(id: $id) { name } }', variables: '{"id": 1}' },
          },
          url: '{{base}}/post',
        },
      },
      {
        name: 'path variables',
        event: [test('pm.test("path", () => pm.expect(pm.response.json().path).to.eql("/users/7/orders"));')],
        request: {
          method: 'GET',
          url: {
            raw: '{{base}}/users/:id/orders?x=1',
            host: ['{{base}}'],
            path: ['users', ':id', 'orders'],
            query: [{ key: 'x', value: '1' }],
            variable: [{ key: 'id', value: '7' }],
          },
        },
      },
    ],
  }),
  named('Requests of scripts', {
    item: [
      get(
        'callback',
        '{{base}}/get?token={{t}}',
        before(
          'pm.sendRequest({url: pm.variables.get("base") + "/post", method: "POST", header: {"Content-Type": "application/json"}, body: {mode: "raw", raw: JSON.stringify({a: 1})}}, (error, answer) => {',
          '  pm.test("in the callback", () => { pm.expect(error).to.equal(null); pm.expect(answer).to.have.property("code", 200); });',
          '  pm.variables.set("t", answer.json().json.a);',
          '});',
          'pm.test("before it", () => pm.expect(pm.variables.get("t")).to.equal(undefined));',
        ),
        test(
          'pm.test("token", () => pm.expect(pm.response.json().args.token).to.eql("1"));',
          'setTimeout(() => pm.test("later", () => {}), 20);',
        ),
      ),
      get(
        'nested',
        '{{base}}/get',
        test(
          'pm.sendRequest(pm.variables.replaceIn("{{base}}/list"), (error, answer) => {',
          '  const [first] = answer.json();',
          '  pm.sendRequest(pm.variables.replaceIn("{{base}}/get?id=") + first.id, (_, inner) => pm.test("inner", () => pm.expect(inner.json().args.id).to.eql("1")));',
          '});',
          'pm.test("async", (done) => { setTimeout(() => { pm.expect(1).to.equal(1); done(); }, 5); });',
        ),
      ),
    ],
  }),
  named('Flow of requests', {
    item: [
      get(
        'start',
        '{{base}}/get',
        before('pm.environment.set("round", (pm.environment.get("round") || 0) + 1);'),
        test(
          'pm.test("round " + pm.environment.get("round"), () => {});',
          'pm.execution.setNextRequest(pm.environment.get("round") < 3 ? "start" : "after");',
        ),
      ),
      get('skipped over', '{{base}}/status/500', test('pm.test("never", () => pm.expect(1).to.equal(2));')),
      get(
        'after',
        '{{base}}/status/404',
        test('pm.test("404", () => pm.response.to.be.notFound);', 'pm.test.skip("later", () => {});'),
      ),
      get('skips itself', '{{base}}/get', before('pm.execution.skipRequest();'), test('pm.test("never", () => {});')),
      get(
        'end',
        '{{base}}/redirect/2',
        test(
          'pm.test("followed", () => pm.expect(pm.response.json().path).to.eql("/get"));',
          'postman.setNextRequest(null);',
        ),
      ),
      get('not reached', '{{base}}/get', test('pm.test("never", () => {});')),
    ],
  }),
  named('Cookies', {
    item: [
      get(
        'set',
        '{{base}}/cookies/set?session=abc&theme=dark',
        test(
          'pm.test("two", () => { pm.expect(pm.cookies.get("session")).to.eql("abc"); pm.expect(pm.cookies.has("theme")).to.be.true; });',
          'pm.test("legacy", () => pm.expect(postman.getResponseCookie("session").value).to.eql("abc"));',
        ),
      ),
      get(
        'sent back',
        '{{base}}/cookies',
        test(
          'pm.test("sent", () => pm.expect(pm.response.json().cookies).to.eql({session: "abc", theme: "dark"}));',
          'pm.test("known", () => pm.expect(pm.cookies.toObject()).to.eql({session: "abc", theme: "dark"}));',
        ),
      ),
      get(
        'jar',
        '{{base}}/cookies',
        before(
          'const jar = pm.cookies.jar();',
          'jar.set(pm.variables.get("base"), "mine", "1", (error, cookie) => { pm.test("set", () => pm.expect(error).to.be.null); });',
          'jar.unset(pm.variables.get("base"), "theme", () => {});',
        ),
        test(
          'pm.test("changed", () => pm.expect(pm.response.json().cookies).to.eql({session: "abc", mine: "1"}));',
          'pm.cookies.jar().getAll(pm.variables.get("base"), (error, all) => pm.test("all", () => pm.expect(all.count()).to.equal(2)));',
        ),
      ),
      get(
        'deleted',
        '{{base}}/cookies/delete?session',
        test('pm.test("gone", () => pm.expect(pm.cookies.has("session")).to.be.false);'),
      ),
    ],
  }),
  named('Broken scripts', {
    event: [test('pm.test("of the collection", () => pm.response.to.have.status(200));')],
    item: [
      get(
        'throws before',
        '{{base}}/get',
        before('nothing.here;'),
        test('pm.test("sent", () => pm.response.to.be.ok);'),
      ),
      get('throws after', '{{base}}/get', test('pm.test("counted", () => {});', 'throw new Error("broken");')),
      get(
        'not json',
        '{{base}}/broken',
        test('pm.test("json", () => pm.response.json());', 'pm.test("body", () => pm.response.to.have.jsonBody());'),
      ),
      get('does not parse', '{{base}}/get', test('pm.test("x", () => {')),
      get(
        'no server',
        'http://127.0.0.1:1/',
        test('pm.test("never", () => pm.expect(pm.response).to.equal(undefined));'),
      ),
      get('empty', '{{base}}/empty', test('pm.test("no body", () => pm.response.to.not.be.withBody);')),
      get(
        'bom',
        '{{base}}/bom',
        test(
          'pm.test("bom", () => pm.expect(pm.response.json().bom).to.be.true);',
          'pm.test("legacy bom", () => pm.expect(JSON.parse(responseBody).bom).to.be.true);',
        ),
      ),
    ],
  }),
  named('Shared functions', {
    event: [
      before(
        'utils = { check(body, name) { pm.expect(body).to.have.property(name); } };',
        'pm.globals.set("helper", "(function (x) { return x * 2; })");',
      ),
    ],
    item: [
      get(
        'eval',
        '{{base}}/get?n=4',
        test(
          'const twice = eval(pm.globals.get("helper"));',
          'pm.test("twice", () => pm.expect(twice(Number(pm.response.json().args.n))).to.equal(8));',
          'pm.test("types", () => { pm.environment.set("num", 1); pm.environment.set("list", [1, 2]); pm.expect(pm.environment.get("num")).to.equal(1); pm.expect(pm.environment.get("list")).to.eql([1, 2]); });',
        ),
      ),
      get(
        'kept types',
        '{{base}}/get?list={{list}}&num={{num}}',
        test(
          'pm.test("list", () => pm.expect(pm.response.json().args).to.eql({list: "1,2", num: "1"}));',
          'const helper = new Function("a", "return a + 1");',
          'pm.test("Function", () => pm.expect(helper(1)).to.equal(2));',
          'pm.test("every", () => { for (const [key, value] of Object.entries(pm.environment.toObject())) pm.expect(key).to.be.a("string"); });',
        ),
      ),
      {
        name: 'basic auth',
        event: [test('pm.test("in", () => pm.expect(pm.response.json().authenticated).to.be.true);')],
        request: {
          method: 'GET',
          auth: {
            type: 'basic',
            basic: [
              { key: 'username', value: 'ada' },
              { key: 'password', value: 'pw' },
            ],
          },
          url: '{{base}}/basic-auth/ada/pw',
        },
      },
    ],
  }),
];
