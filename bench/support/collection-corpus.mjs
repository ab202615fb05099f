// Twelve collections, each of one kind of suite that public repositories show. Their requests go to {{base}}, the echo server.

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

const test = (...exec) => ({ listen: 'test', script: { type: 'text/javascript', exec } });
const before = (...exec) => ({ listen: 'prerequest', script: { type: 'text/javascript', exec } });
const json = (raw) => ({
  mode: 'raw',
  raw: typeof raw === 'string' ? raw : JSON.stringify(raw),
  options: { raw: { language: 'json' } },
});
const get = (name, url, ...event) => ({ name, event, request: { method: 'GET', header: [], url } });
const post = (name, url, body, ...event) => ({ name, event, request: { method: 'POST', header: [], body, url } });
const named = (name, rest) => ({ info: { name, schema: SCHEMA }, ...rest });

export const COLLECTIONS = [
  named('Legacy tests', {
    item: [
      get(
        'status',
        '{{base}}/get?a=1',
        test(
          'tests["Status is 200"] = responseCode.code === 200;',
          'tests["Body has args"] = responseBody.has ? responseBody.has("args") : responseBody.indexOf("args") > -1;',
          'tests["Fast"] = responseTime < 20000;',
          'var data = JSON.parse(responseBody);',
          'tests["a is 1"] = data.args.a === "1";',
          'tests["Content-Type"] = postman.getResponseHeader("Content-Type").indexOf("json") > -1;',
          'tests["fails"] = data.args.a === "2";',
          'postman.setEnvironmentVariable("first", data.args.a);',
          'postman.setGlobalVariable("second", data.url);',
        ),
      ),
      get(
        'uses {{first}}',
        '{{base}}/get?f={{first}}',
        test(
          'var jsonData = JSON.parse(responseBody);',
          'tests["kept"] = jsonData.args.f === environment.first;',
          'tests["global"] = globals.second === "/get?a=1";',
          'tests["lodash"] = _.contains([1, 2], 2) && _.pluck([{a: 1}], "a")[0] === 1;',
          'for (var key in responseHeaders) { if (key === "X-Answer") tests["header " + key] = true; }',
          'postman.setNextRequest("xml");',
        ),
      ),
      get('never', '{{base}}/status/500', test('tests["never"] = false;')),
      get(
        'xml',
        '{{base}}/xml',
        test(
          'var parsed = xml2Json(responseBody);',
          'tests["two items"] = parsed.shop.item.length === 2;',
          'postman.clearEnvironmentVariable("first");',
        ),
      ),
      get(
        'schema',
        '{{base}}/list',
        test(
          'var schema = {type: "array", items: {required: ["id"]}};',
          'tests["valid"] = tv4.validate(JSON.parse(responseBody), schema);',
          'undefinedFunction();',
        ),
      ),
    ],
  }),
  named('Chained tokens', {
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    event: [
      before('pm.variables.set("started", Date.now());'),
      test('pm.test("answered", () => pm.expect(pm.response.code).to.be.below(500));'),
    ],
    item: [
      {
        name: 'login',
        event: [
          test(
            'const body = pm.response.json();',
            'pm.test("token", () => { pm.expect(body).to.have.property("token"); });',
            'pm.collectionVariables.set("token", body.token);',
            'pm.environment.set("user", JSON.stringify(body.user));',
          ),
        ],
        request: {
          method: 'POST',
          auth: { type: 'noauth' },
          header: [],
          body: json({ name: 'ada' }),
          url: '{{base}}/login',
        },
      },
      get(
        'profile',
        '{{base}}/get',
        test(
          'pm.test("authorized", () => pm.expect(pm.response.json().headers.authorization).to.eql("Bearer tok-1"));',
          'const user = JSON.parse(pm.environment.get("user"));',
          'pm.test("user", () => pm.expect(user.id).to.equal(7));',
        ),
      ),
      {
        name: 'orders',
        item: [
          post(
            'create',
            '{{base}}/post',
            json('{"id": "{{$guid}}", "user": {{user}}, "at": {{$timestamp}}}'),
            test(
              'pm.test("sent as json", () => pm.expect(pm.response.json().json.user.name).to.eql("Ada"));',
              'pm.collectionVariables.set("order", pm.response.json().json.id);',
            ),
          ),
          get(
            'read',
            '{{base}}/orders/{{order}}?expand=items',
            test(
              'pm.test("path", () => pm.expect(pm.response.json().path).to.include(pm.collectionVariables.get("order")));',
            ),
          ),
          {
            name: 'delete',
            event: [test('pm.test("method", () => pm.expect(pm.response.json().method).to.eql("DELETE"));')],
            request: { method: 'DELETE', url: '{{base}}/orders/{{order}}' },
          },
        ],
      },
    ],
  }),
  named('Data file', {
    item: [
      get(
        'row {{name}}',
        '{{base}}/get?name={{name}}&n={{n}}',
        before('pm.variables.set("double", Number(pm.iterationData.get("n")) * 2);'),
        test(
          'pm.test("row " + pm.info.iteration, () => { const { args } = pm.response.json(); pm.expect(args.name).to.eql(pm.iterationData.get("name")); pm.expect(Number(args.n)).to.equal(data.n); });',
          'pm.test("count " + pm.info.iterationCount, () => pm.expect(pm.variables.get("double")).to.equal(data.n * 2));',
          'pm.test("expected", () => pm.expect(data.n).to.be.below(3));',
        ),
      ),
    ],
    data: [
      { name: 'Tea', n: 1 },
      { name: 'Cup', n: 2 },
      { name: 'Pot', n: 3 },
    ],
  }),
  named('Schemas', {
    item: [
      get(
        'ajv',
        '{{base}}/list',
        test(
          'const Ajv = require("ajv"); const ajv = new Ajv({logger: console});',
          'const schema = {type: "array", items: {type: "object", required: ["id", "name"], properties: {id: {type: "integer"}}}};',
          'pm.test("valid", () => pm.expect(ajv.validate(schema, pm.response.json()), JSON.stringify(ajv.errors)).to.be.true);',
          'pm.test("jsonSchema", () => pm.response.to.have.jsonSchema(schema));',
          'pm.test("wrong schema", () => pm.response.to.have.jsonSchema({type: "object"}));',
        ),
      ),
      get(
        'tv4',
        '{{base}}/list',
        test(
          'pm.test("tv4", () => pm.expect(tv4.validate(pm.response.json(), {type: "array"})).to.be.true);',
          'pm.test("tv4 fails", () => pm.expect(tv4.validate({}, {type: "array"})).to.be.false);',
          'pm.test("shape", () => { pm.expect(pm.response.json()).to.be.an("array").with.lengthOf(2); pm.response.json().forEach((one) => pm.expect(one).to.have.all.keys("id", "name", "tags")); });',
        ),
      ),
    ],
  }),
  named('Libraries', {
    item: [
      get(
        'html',
        '{{base}}/html',
        test(
          'const $ = cheerio.load(pm.response.text());',
          'pm.test("title", () => pm.expect($("title").text()).to.equal("Shop"));',
          'pm.test("heading", () => pm.expect($("h1.a").html()).to.equal("Tea"));',
        ),
      ),
      get(
        'csv',
        '{{base}}/csv',
        test(
          'const parse = require("csv-parse/lib/sync");',
          'const rows = parse(pm.response.text(), {columns: true, skip_empty_lines: true});',
          'pm.test("rows", () => pm.expect(rows.map((row) => row.price)).to.eql(["3", "9"]));',
        ),
      ),
      get(
        'xml',
        '{{base}}/xml',
        test(
          'const parser = require("xml2js").parseString;',
          'let found; parser(pm.response.text(), {explicitArray: false}, (error, value) => { found = value; });',
          'pm.test("attribute", () => pm.expect(found.shop.$.open).to.eql("yes"));',
        ),
      ),
      get(
        'dates and ids',
        '{{base}}/get?d={{day}}&id={{id}}&sign={{sign}}',
        before(
          'const moment = require("moment"); const uuid = require("uuid"); const lodash = require("lodash");',
          'pm.environment.set("day", moment("2024-02-28").add(2, "days").format("YYYY-MM-DD"));',
          'pm.environment.set("id", uuid.v4());',
          'pm.environment.set("sign", CryptoJS.HmacSHA256("text", "key").toString(CryptoJS.enc.Hex));',
          'pm.environment.set("picked", lodash.get({a: {b: [1, 2]}}, "a.b[1]"));',
        ),
        test(
          'pm.test("day", () => pm.expect(pm.response.json().args.d).to.eql("2024-03-01"));',
          'pm.test("sign", () => pm.expect(pm.response.json().args.sign).to.match(/^[0-9a-f]{64}$/));',
          'pm.test("picked", () => pm.expect(pm.environment.get("picked")).to.equal(2));',
          'pm.test("base64", () => pm.expect(atob(btoa("x"))).to.equal("x"));',
        ),
      ),
    ],
  }),
  named('Signed requests', {
    event: [
      before(
        'const time = "1700000000";',
        'const text = [pm.request.method, pm.request.url.getPath(), time].join("\\n");',
        'pm.request.headers.upsert({key: "X-Time", value: time});',
        'pm.request.headers.add({key: "X-Signature", value: CryptoJS.enc.Base64.stringify(CryptoJS.HmacSHA1(text, pm.collectionVariables.get("secret")))});',
      ),
    ],
    variable: [{ key: 'secret', value: 's3cret' }],
    item: [
      get(
        'get',
        '{{base}}/get',
        test('pm.test("signed", () => pm.expect(pm.response.json().headers["x-signature"]).to.have.lengthOf(28));'),
      ),
      post(
        'changed body',
        '{{base}}/post',
        json({ a: 1 }),
        before('const body = JSON.parse(pm.request.body.raw); body.b = 2; pm.request.body.raw = JSON.stringify(body);'),
        test('pm.test("both", () => pm.expect(pm.response.json().json).to.eql({a: 1, b: 2}));'),
      ),
      post(
        'replaced body',
        '{{base}}/post',
        json({ a: 1 }),
        before(
          'pm.request.body.update({mode: "raw", raw: "{\\"c\\": \\"{{secret}}\\"}"});',
          'pm.request.url.addQueryParams("page=2");',
          'pm.request.method = "PUT";',
        ),
        test(
          'pm.test("replaced", () => { const seen = pm.response.json(); pm.expect(seen.json).to.eql({c: "s3cret"}); pm.expect(seen.args.page).to.eql("2"); pm.expect(seen.method).to.eql("PUT"); });',
        ),
      ),
    ],
  }),
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
