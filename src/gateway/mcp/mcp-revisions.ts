/** The revisions of the Model Context Protocol that begin with `initialize`, the newest first. A test compares them with the SDK's. */
export const MCP_REVISIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

/** The revision without sessions: each request names it. */
export const STATELESS_REVISION = '2026-07-28';

/** What a result names its browser session by, for programs; models get it as text. */
export const SESSION_META_KEY = 'io.github.troupe/sessionId';
