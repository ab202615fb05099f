import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./login-browser.entry.mjs', import.meta.url));

/** A value for BROWSER: a command that keeps cookies and follows redirects like a browser. */
export const LOGIN_BROWSER = `${process.execPath} ${script} %s`;
