// Parts of collections of Postman.
const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

export const test = (...exec) => ({ listen: 'test', script: { type: 'text/javascript', exec } });
export const before = (...exec) => ({ listen: 'prerequest', script: { type: 'text/javascript', exec } });
export const json = (raw) => ({
  mode: 'raw',
  raw: typeof raw === 'string' ? raw : JSON.stringify(raw),
  options: { raw: { language: 'json' } },
});
export const get = (name, url, ...event) => ({ name, event, request: { method: 'GET', header: [], url } });
export const post = (name, url, body, ...event) => ({
  name,
  event,
  request: { method: 'POST', header: [], body, url },
});
export const named = (name, rest) => ({ info: { name, schema: SCHEMA }, ...rest });
