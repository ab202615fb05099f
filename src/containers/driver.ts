import type { Readable } from 'node:stream';

/** The two ends of a browser's DevTools pipe, opened for one user; see `devtools-pipe.ts`. It can go to another thread. */
export interface DevToolsPipe {
  readonly kind: 'pipe';
  /** Descriptors of this process. */
  readonly input: number;
  readonly output: number;
  /** Where the users of the pipe note their DevTools sessions, which outlive them; absolute. */
  readonly sessionsFile: string;
  /** Who closes the descriptors: 0 nobody yet, 1 who has taken them, 2 they are closed. */
  readonly taken: SharedArrayBuffer;
}

/** The way to a browser's DevTools, for one connection. */
export type DevToolsAddress =
  | DevToolsPipe
  /** A WebSocket: behind a unix socket (`ws+unix:<path>:/devtools/...`), or on 127.0.0.1. */
  | { readonly kind: 'socket'; readonly url: string };

/** Where a browser's files lie, and what it is. All of it survives a restart of the service. */
export interface BrowserEndpoint {
  /** For people: `Chromium 156.0.8078.73`. */
  readonly product: string;
  /** A folder that the browser may write to and the service may read; absolute. */
  readonly downloadsDir: string;
  /** A folder that the service may write to and the browser may read; absolute. */
  readonly uploadsDir: string;
  /** The unix socket of the browser's desktop, an RFB server without a password; absent where there is no display. */
  readonly desktopSocket?: string | undefined;
}

/** What all browsers of a driver have in common. */
export interface BrowserKind {
  /** See {@link BrowserEndpoint.product}. */
  readonly product: string;
  /** With a display, without one, or the shell that never has one. */
  readonly form: 'display' | 'headless' | 'shell';
}

/** Enough to find the same browser again after a restart, and to prove that it is ours. Plain JSON. */
export interface LeaseIdentity {
  readonly driver: string;
  readonly leaseId: string;
  readonly [key: string]: unknown;
}

/** What a lease may be told about the browser that it is to start. */
export interface LeaseOptions {
  readonly leaseId: string;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly locale?: string | undefined;
  readonly proxy?: { readonly server: string; readonly bypass?: string | undefined } | undefined;
}

/** What a session's pages may reach beyond, or less than, what every browser of the driver may. */
export interface NetworkWish {
  /** Ports of this machine's loopback that the pages reach as localhost; the process driver's reach them all. */
  readonly forward?: readonly number[] | undefined;
  /** Host patterns. It can only narrow what the configuration leaves open. */
  readonly egress?:
    | { readonly allow?: readonly string[] | undefined; readonly deny?: readonly string[] | undefined }
    | undefined;
}

/** A browser that must be given back. Its owner is the supervisor, never a session. */
export interface BrowserLease {
  readonly identity: LeaseIdentity;
  readonly endpoint: BrowserEndpoint;
  /**
   * Settles once, when the browser is gone, with what is known of why: the end of a sentence about the browser. Never
   * rejects, and keeps no process alive that waits for nothing else.
   */
  readonly exited: Promise<{ readonly reason: string }>;
  /**
   * The way to the browser's DevTools for whoever connects next. One connection at a time: an earlier one must be gone.
   * @throws WORKER_LOST when the browser is gone
   */
  devTools(): DevToolsAddress;
  /** Opens and closes the pages' ways out for the session that gets this browser; an adopted browser needs it again. */
  permit(wish: NetworkWish): void;
  /**
   * The desktop from now on as H.264 in mp4, playable up to wherever it breaks off. Ends with the browser, or by the signal.
   * Absent where there is no desktop. @throws UNAVAILABLE
   */
  recordVideo?(signal: AbortSignal): Promise<Readable>;
  /** Ends the browser with all its processes and removes its files. Idempotent; settles when nothing of it is left. */
  release(): Promise<void>;
}

/** What bounds the start of a browser: its asker may give up, and there is a deadline. */
export interface StartBounds {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

/** A way to have browsers. */
export interface Driver {
  readonly name: 'process' | 'docker';
  /** What its browsers are. Null before the first one where only a browser itself can say it. */
  readonly browser: BrowserKind | null;
  /** What not every driver can do for a session: show a desktop; send the hosts that a session's proxy bypasses through the gate. */
  readonly offers: ReadonlySet<'desktop' | 'filteredBypass'>;
  /**
   * Starts a browser and waits until its CDP endpoint answers; `deadlineMs` counts from the call.
   * @throws UNAVAILABLE when the browser cannot be started or does not answer by the deadline; nothing is left then, but of a
   * Docker engine that does not answer either, whose container a sweep removes.
   */
  lease(options: LeaseOptions, bounds: StartBounds): Promise<BrowserLease>;
  /** The living browser of an identity that an earlier service wrote down, or null when it is gone. */
  adopt(identity: LeaseIdentity): Promise<BrowserLease | null>;
  /**
   * Removes every browser of this instance whose lease is not in `keep`, and answers the lease ids removed. `keep` is
   * asked at the moment of each removal, since leases come and go meanwhile; one that is being started is never removed.
   */
  sweep(keep: { has(leaseId: string): boolean }): Promise<readonly string[]>;
}
