import { z } from 'zod';
import type { ErrorBody } from '#troupe/protocol/errors.js';

/**
 * The messages between the request client's window and its server. Ids of items are valid while the document is open.
 */

/** The supported grant types, as they are stored and as people read them. */
export const GRANT_TYPES = {
  client_credentials: 'Client Credentials',
  authorization_code: 'Authorization Code',
  authorization_code_with_pkce: 'Authorization Code with PKCE',
} as const;

export type GrantType = keyof typeof GRANT_TYPES;

/**
 * The ports for login callbacks on 127.0.0.1, in the order in which they are tried; register all four with the
 * provider.
 */
export const CALLBACK_PORTS: readonly number[] = [8080, 8888, 9090, 3000];

/** A row of a table: a header, a variable, a field of a form. */
export const PairRow = z.strictObject({ name: z.string(), value: z.string(), enabled: z.boolean() });
export type PairRow = z.infer<typeof PairRow>;

/** A variable of an environment. */
export const EnvironmentRow = z.strictObject({
  name: z.string(),
  value: z.string(),
  enabled: z.boolean(),
  secret: z.boolean(),
});
export type EnvironmentRow = z.infer<typeof EnvironmentRow>;

/** An open environment. */
export interface EnvironmentLine {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  /** It differs from its file. */
  readonly changed: boolean;
}

/** The environment whose variables are used. `plain`: its rows can neither be disabled nor be secret. */
export interface EnvironmentView {
  readonly id: string;
  readonly plain: boolean;
  readonly rows: readonly EnvironmentRow[];
}

/** A query parameter; `value` is null if there is no `=`. */
export const ParamRow = z.strictObject({ name: z.string(), value: z.string().nullable(), enabled: z.boolean() });
export type ParamRow = z.infer<typeof ParamRow>;

/** A part of a multipart form; if `file` is set, `value` is the path. */
export const FormRow = z.strictObject({ name: z.string(), value: z.string(), file: z.boolean(), enabled: z.boolean() });
export type FormRow = z.infer<typeof FormRow>;

/** `other` is a body that the window cannot edit; it is sent and saved unchanged. */
export const BodyForm = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('none') }),
  z.strictObject({ mode: z.literal('raw'), text: z.string(), language: z.string() }),
  z.strictObject({ mode: z.literal('urlencoded'), rows: z.array(PairRow) }),
  z.strictObject({ mode: z.literal('formdata'), rows: z.array(FormRow) }),
  z.strictObject({ mode: z.literal('file'), path: z.string() }),
  z.strictObject({ mode: z.literal('graphql'), query: z.string(), variables: z.string() }),
  z.strictObject({ mode: z.literal('other'), what: z.string() }),
]);
export type BodyForm = z.infer<typeof BodyForm>;

/**
 * `inherit` uses the setting of the nearest folder. `settings` has the seed's keys for OAuth 2.0, otherwise Postman's.
 */
export const AuthForm = z.strictObject({ type: z.string(), settings: z.record(z.string(), z.string()) });
export type AuthForm = z.infer<typeof AuthForm>;

/** The source of an inherited auth: the id and name of the folder or collection, and the type of its auth. */
export interface InheritedAuth {
  readonly id: string;
  readonly from: string;
  readonly type: string;
}

const RequestFields = z.strictObject({
  name: z.string(),
  method: z.string(),
  url: z.string(),
  params: z.array(ParamRow),
  pathVariables: z.array(PairRow),
  headers: z.array(PairRow),
  body: BodyForm,
  auth: AuthForm,
  before: z.string(),
  after: z.string(),
  followRedirects: z.boolean(),
  verifyTls: z.boolean(),
  httpVersion: z.enum(['auto', 'http1', 'http2']),
});

/** The members of a request that the window can edit; any subset can be sent. */
export const RequestEdit = RequestFields.partial();
export type RequestEdit = z.infer<typeof RequestEdit>;

/** A change of a request form. */
export type FormChange = Partial<z.infer<typeof RequestFields>>;

/** A request as its tab shows it. */
export interface RequestForm extends z.infer<typeof RequestFields> {
  readonly id: string;
  /** Null if there is none. */
  readonly inherited: InheritedAuth | null;
  /** Variables of its folders, inner ones first. */
  readonly folderValues: ValuesByName;
}

const GroupFields = z.strictObject({
  name: z.string(),
  auth: AuthForm,
  before: z.string(),
  after: z.string(),
  variables: z.array(PairRow),
});

/** The members of a folder or the collection that the window can edit; any subset can be sent. */
export const GroupEdit = GroupFields.partial();
export type GroupEdit = z.infer<typeof GroupEdit>;

/** A change of a group form. */
export type GroupChange = Partial<z.infer<typeof GroupFields>>;

/** The settings of a folder or the collection for everything in it. */
export interface GroupForm extends z.infer<typeof GroupFields> {
  readonly id: string;
  /** Null if there is none, and for the collection. */
  readonly inherited: InheritedAuth | null;
  /** Variables of its folders, and its own. */
  readonly folderValues: ValuesByName;
}

/** The id of the collection itself, in places of folder ids. */
export const COLLECTION_ID = 'collection';

export type ValuesByName = { readonly [name: string]: string };

/**
 * The current values of all variables: scripts change them while the window is open. Variables of folders come between:
 * they override `base`, and `over` overrides them.
 */
export interface ScopeValues {
  /** The higher revision is the newer one. */
  readonly revision: number;
  /** Values of the collection and globals. */
  readonly base: ValuesByName;
  /** Values of scripts and the environment. */
  readonly over: ValuesByName;
}

/** A row of the tree. `method` is null for folders. */
export interface TreeItem {
  readonly id: string;
  readonly name: string;
  readonly method: string | null;
  readonly children: readonly TreeItem[];
}

/** The open document. */
export interface DocumentView {
  readonly name: string;
  /** Null if it was never saved. */
  readonly file: { readonly path: string; readonly name: string } | null;
  /** It differs from its file. */
  readonly changed: boolean;
  readonly canUndo: boolean;
  /** Unsaved changes of an earlier window were restored. */
  readonly restored: boolean;
  readonly items: readonly TreeItem[];
  readonly variables: readonly PairRow[];
  readonly environments: readonly EnvironmentLine[];
  readonly environment: EnvironmentView | null;
  readonly values: ScopeValues;
}

/** The key in the window's address, which the page exchanges for the secret of this run. */
export const EnterWindow = z.strictObject({ key: z.string().max(200) });
export const ChooseEnvironment = z.strictObject({ id: z.string().nullable() });
export const EnvironmentRows = z.strictObject({ rows: z.array(EnvironmentRow) });
export const Overwrite = z.strictObject({ overwrite: z.boolean() });
export const OpenFile = z.strictObject({ path: z.string().min(1) });
export const SaveFile = z.strictObject({ path: z.string().min(1).nullable(), overwrite: z.boolean() });
export const NewItem = z.strictObject({
  parent: z.string().nullable(),
  kind: z.enum(['folder', 'request']),
  name: z.string(),
});
/** `index` refers to the parent's children before the move. */
export const MoveItem = z.strictObject({ parent: z.string().nullable(), index: z.int().min(0) });
/** Copies a request from the history to the end of this folder. */
export const TakeRequest = z.strictObject({ parent: z.string().nullable() });
export const SaveBody = z.strictObject({ path: z.string().min(1), overwrite: z.boolean() });
/** How a request is written as a command: with the current values of variables, or with their names. */
export const CurlOptions = z.strictObject({ shell: z.enum(['posix', 'cmd', 'powershell']), values: z.boolean() });
export type CurlOptions = z.infer<typeof CurlOptions>;
/** A request as a command, and what cannot be expressed in the shell or curl. */
export interface CurlView {
  readonly command: string;
  readonly warnings: readonly string[];
}
export const ImportText = z.strictObject({ text: z.string(), parent: z.string().nullable() });

export interface ImportPlace {
  readonly line: number;
  readonly column: number;
  readonly excerpt: string;
}

/** Widths and heights of the window's parts, in pixels. */
export const WindowSizes = z.strictObject({
  tree: z.int().min(0).max(10_000),
  request: z.int().min(0).max(10_000),
  pane: z.int().min(0).max(10_000),
});
export type WindowSizes = z.infer<typeof WindowSizes>;
/** What the window keeps from start to start. */
export interface WindowView {
  /** Paths of collections, newest first. */
  readonly recent: readonly string[];
  /** Null if they were never changed. */
  readonly sizes: WindowSizes | null;
}

/** Ids of the requests in whose content a text occurs. */
export const SearchText = z.strictObject({ text: z.string().max(1000) });
export interface SearchView {
  readonly ids: readonly string[];
}

/** The result of an import. */
export interface ImportView {
  /** The name of the format that was detected. */
  readonly format: string;
  /** Ids of the new requests. */
  readonly made: readonly string[];
  readonly variables: readonly string[];
  /** Names of environments, which are not saved yet. */
  readonly environments: readonly string[];
  /** Only warnings about curl commands have a place. */
  readonly warnings: readonly (Partial<ImportPlace> & {
    readonly level: 'note' | 'warning';
    readonly message: string;
  })[];
  readonly errors: readonly (ImportPlace & { readonly message: string })[];
  /** The text that was not imported. */
  readonly failed: string;
  readonly document: DocumentView;
}

export interface HeaderView {
  readonly name: string;
  readonly value: string;
}

/** A response for display. `text` is null if the body is not text, and truncated if `cut` is set. */
export interface ResponseView {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: readonly HeaderView[];
  readonly bytes: number;
  readonly durationMs: number;
  readonly redirects: readonly { readonly status: number; readonly url: string }[];
  readonly contentType: string;
  readonly text: string | null;
  readonly cut: boolean;
  /** The beginning of a binary body as a hex dump; otherwise empty. */
  readonly hex: string;
}

/** A request that was sent, and its outcome. */
export interface SentView {
  readonly id: string;
  readonly itemId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: readonly HeaderView[];
  readonly response: ResponseView | null;
  readonly error: ErrorBody | null;
  readonly tests: readonly {
    readonly name: string;
    readonly status: 'passed' | 'failed' | 'skipped';
    readonly message: string;
  }[];
  readonly console: readonly string[];
  readonly unresolved: readonly string[];
  readonly durationMs: number;
}

/** An entry of the history, newest first. The address is as it was written, without secrets. */
export interface HistoryLine {
  readonly id: string;
  /** The id of the response, while it is kept. */
  readonly sentId: string | null;
  readonly at: number;
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly durationMs: number;
  readonly status: number | null;
  readonly passed: boolean;
  /** The request can be restored from the history. */
  readonly whole: boolean;
}

/** Options for running a folder. */
export const RunOptions = z.strictObject({
  iterations: z.int().min(1).max(1000),
  stopAtFailure: z.boolean(),
  /** The text of a JSON or CSV file: one iteration for each of its rows, instead of `iterations`. */
  data: z.strictObject({ name: z.string(), text: z.string() }).optional(),
});
export type RunOptions = z.infer<typeof RunOptions>;

/** A request of a run. */
export interface RunLine {
  /** The id of its response, while it is kept. */
  readonly sentId: string;
  readonly method: string;
  readonly url: string;
  /** Null if there was no response. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly passed: boolean;
  /** Starts at 1. */
  readonly iteration: number;
  /** Names of the folders, then of the request. */
  readonly path: readonly string[];
  readonly tests: number;
  /** Why it failed, one line each. */
  readonly problems: readonly string[];
}

/** Lines of JSON with the progress of a send or a new token. `login` is set while the login page is open. */
export type ProgressLine =
  | { readonly kind: 'login'; readonly url: string | null }
  | { readonly kind: 'sent'; readonly sent: SentView; readonly values: ScopeValues }
  | { readonly kind: 'result'; readonly result: RunLine }
  | { readonly kind: 'ran'; readonly values: ScopeValues }
  | { readonly kind: 'token'; readonly token: TokenView }
  | { readonly kind: 'failed'; readonly error: ErrorBody };

/** The state of the token of a request's OAuth settings; never the token itself. */
export type TokenView =
  | { readonly state: 'none' }
  | { readonly state: 'cached'; readonly expiresAt: number | null; readonly refreshable: boolean };

/** A folder, for the open and save dialogs. */
export interface FolderView {
  readonly path: string;
  readonly parent: string | null;
  readonly entries: readonly { readonly name: string; readonly folder: boolean }[];
}
