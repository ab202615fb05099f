// Twelve collections, each of one kind of suite that public repositories show. Their requests go to {{base}}, the echo server.

import { MORE_COLLECTIONS } from './collection-corpus-more.mjs';
import { before, get, json, named, post, test } from './collection-parts.mjs';

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
  ...MORE_COLLECTIONS,
];
