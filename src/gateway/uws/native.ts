import type * as Uws from 'uWebSockets.js';
import { createRequire } from 'node:module';

declare module 'uWebSockets.js' {
  /** In the binary, not in the package's own types. */
  const LIBUS_LISTEN_EXCLUSIVE_PORT: ListenOptions;

  interface TemplatedApp {
    /** The most complete form, which the package's own types leave out. */
    listen(
      host: string,
      port: number,
      options: ListenOptions,
      cb: (listenSocket: us_listen_socket | false) => void,
    ): TemplatedApp;
  }
}

/**
 * uWebSockets.js keeps this many bytes of a request head that arrives in pieces. Its own default, 4 KiB, refuses (431)
 * what browsers send when other programs on the same host name have set cookies. It reads the variable when it loads.
 */
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(16 * 1024);

/**
 * The native HTTP server. This file is imported when it is wanted, and not before: a machine for which there is no binary
 * has node:http.
 * @throws what keeps the binary from being loaded
 */
export const uws: typeof Uws = createRequire(import.meta.url)('uWebSockets.js');
