// The part of a browser that a login needs: it opens a URL, keeps cookies and follows redirects.
const MAX_REDIRECTS = 20;

const cookies = new Map();
let url = process.argv[2];
for (let count = 0; url !== null && count < MAX_REDIRECTS; count += 1) {
  const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
  const response = await fetch(url, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
  await response.arrayBuffer();
  for (const line of response.headers.getSetCookie()) {
    const [, name, value] = /^([^=]*)=([^;]*)/.exec(line) ?? [];
    if (name !== undefined) cookies.set(name, value);
  }
  const location = response.headers.get('location');
  url = location === null ? null : new URL(location, url).href;
}
