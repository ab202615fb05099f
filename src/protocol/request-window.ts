import { z } from 'zod';
import type { ErrorBody } from './errors.js';

/** What the window of the request client and its server tell each other. Ids of items last as long as the document is open. */

/** The grant types that are offered, as they are stored and as people read them. */
export const GRANT_TYPES = {
  client_credentials: 'Client Credentials',
  authorization_code: 'Authorization Code',
  authorization_code_with_pkce: 'Authorization Code with PKCE',
} as const;

export type GrantType = keyof typeof GRANT_TYPES;

/** Where logins come back to on 127.0.0.1, in this order; all four are to be registered with the provider. */
export const CALLBACK_PORTS: readonly number[] = [8080, 8888, 9090, 3000];

/** A line of a table: a header, a variable, a field of a form. */
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

/** An environment that is open. */
export interface EnvironmentLine {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  /** It is not what its file holds. */
  readonly changed: boolean;
}

/** The environment whose variables count. `plain`: its rows can neither be switched off nor be secret. */
export interface EnvironmentView {
  readonly id: string;
  readonly plain: boolean;
  readonly rows: readonly EnvironmentRow[];
}

/** A parameter of the query; `value` null where there is no `=`. */
export const ParamRow = z.strictObject({ name: z.string(), value: z.string().nullable(), enabled: z.boolean() });
export type ParamRow = z.infer<typeof ParamRow>;

/** A part of a multipart form; `value` is the path where `file` is set. */
export const FormRow = z.strictObject({ name: z.string(), value: z.string(), file: z.boolean(), enabled: z.boolean() });
export type FormRow = z.infer<typeof FormRow>;

/** `other` is a body that the window cannot edit; it is sent and saved as it is. */
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

/** `inherit` takes what the nearest folder says. Settings have the seed's keys for OAuth 2.0, Postman's else. */
export const AuthForm = z.strictObject({ type: z.string(), settings: z.record(z.string(), z.string()) });
export type AuthForm = z.infer<typeof AuthForm>;

/** Where `inherit` leads: the id and name of the folder or collection, and the type of its auth. */
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
});

/** Members of a request that the window edits; any part of them can be sent. */
export const RequestEdit = RequestFields.partial();
export type RequestEdit = z.infer<typeof RequestEdit>;

/** What a page changes of a form. */
export type FormChange = Partial<z.infer<typeof RequestFields>>;

/** A request as its tab shows it. */
export interface RequestForm extends z.infer<typeof RequestFields> {
  readonly id: string;
  /** Null where there is none. */
  readonly inherited: InheritedAuth | null;
  /** Variables of the folders that it is in, the inner ones first. */
  readonly folderValues: ValuesByName;
}

const GroupFields = z.strictObject({
  name: z.string(),
  auth: AuthForm,
  before: z.string(),
  after: z.string(),
  variables: z.array(PairRow),
});

/** Members of a folder, or of the collection, that the window edits; any part of them can be sent. */
export const GroupEdit = GroupFields.partial();
export type GroupEdit = z.infer<typeof GroupEdit>;

/** What a page changes of such a form. */
export type GroupChange = Partial<z.infer<typeof GroupFields>>;

/** What a folder, or the collection, says for all that is in it. */
export interface GroupForm extends z.infer<typeof GroupFields> {
  readonly id: string;
  /** Null where there is none, and for the collection. */
  readonly inherited: InheritedAuth | null;
  /** Variables of the folders that it is in, and its own. */
  readonly folderValues: ValuesByName;
}

/** The id of the collection itself, where a folder's can stand. */
export const COLLECTION_ID = 'collection';

export type ValuesByName = { readonly [name: string]: string };

/**
 * Every variable as requests see it now: scripts change them for as long as the window is open. Those of folders stand
 * between: over `base`, under `over`.
 */
export interface ScopeValues {
  /** Of two, the one with the larger number is the newer one. */
  readonly revision: number;
  /** Of the collection and globals. */
  readonly base: ValuesByName;
  /** Of scripts and the environment. */
  readonly over: ValuesByName;
}

/** A line of the tree. `method` is null for folders. */
export interface TreeItem {
  readonly id: string;
  readonly name: string;
  readonly method: string | null;
  readonly children: readonly TreeItem[];
}

/** The open document. */
export interface DocumentView {
  readonly name: string;
  /** Null where it was never saved. */
  readonly file: { readonly path: string; readonly name: string } | null;
  /** It is not what the file holds. */
  readonly changed: boolean;
  readonly canUndo: boolean;
  readonly items: readonly TreeItem[];
  readonly variables: readonly PairRow[];
  readonly environments: readonly EnvironmentLine[];
  readonly environment: EnvironmentView | null;
  readonly values: ScopeValues;
}

/** The key of an address, for which the page is given the secret of this start. */
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
/** `index` is among the parent's children as they are before the move. */
export const MoveItem = z.strictObject({ parent: z.string().nullable(), index: z.int().min(0) });
/** A request of the history goes to the end of this folder. */
export const TakeRequest = z.strictObject({ parent: z.string().nullable() });
export const SaveBody = z.strictObject({ path: z.string().min(1), overwrite: z.boolean() });
/** How a request is written as a command: with the values that variables have now, or with their names. */
export const CurlOptions = z.strictObject({ shell: z.enum(['posix', 'cmd', 'powershell']), values: z.boolean() });
export type CurlOptions = z.infer<typeof CurlOptions>;
/** A request as a command, and what the shell or curl cannot be told. */
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

/** What became of a paste. */
export interface ImportView {
  readonly made: readonly string[];
  readonly variables: readonly string[];
  readonly warnings: readonly (ImportPlace & { readonly level: 'note' | 'warning'; readonly message: string })[];
  readonly errors: readonly (ImportPlace & { readonly message: string })[];
  /** What of the text was not imported. */
  readonly failed: string;
  readonly document: DocumentView;
}

export interface HeaderView {
  readonly name: string;
  readonly value: string;
}

/** An answer on screen. `text` is null where the body is no text, and cut where `cut` says so. */
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
  /** The beginning of a body that is no text, as a hex dump; empty else. */
  readonly hex: string;
}

/** One request that was sent, and what came of it. */
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

/** A line of the history, newest first. The address is as it is written, without what is secret. */
export interface HistoryLine {
  readonly id: string;
  /** Of the answer, while it is kept. */
  readonly sentId: string | null;
  readonly at: number;
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly durationMs: number;
  readonly status: number | null;
  readonly passed: boolean;
  /** The request can be taken out of the history again. */
  readonly whole: boolean;
}

/** How a folder is run. */
export const RunOptions = z.strictObject({ iterations: z.int().min(1).max(1000), stopAtFailure: z.boolean() });
export type RunOptions = z.infer<typeof RunOptions>;

/** One request of a run. */
export interface RunLine {
  /** Of its answer, while it is kept. */
  readonly sentId: string;
  readonly method: string;
  readonly url: string;
  /** Null where there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly passed: boolean;
  /** From 1. */
  readonly iteration: number;
  /** Names of folders, then of the request. */
  readonly path: readonly string[];
  readonly tests: number;
  /** Why it did not pass, a line each. */
  readonly problems: readonly string[];
}

/** Lines of JSON that a send, or a new token, answers with. `login` is there while the login page is open. */
export type ProgressLine =
  | { readonly kind: 'login'; readonly url: string | null }
  | { readonly kind: 'sent'; readonly sent: SentView; readonly values: ScopeValues }
  | { readonly kind: 'result'; readonly result: RunLine }
  | { readonly kind: 'ran'; readonly values: ScopeValues }
  | { readonly kind: 'token'; readonly token: TokenView }
  | { readonly kind: 'failed'; readonly error: ErrorBody };

/** What is known of the token of a request's OAuth settings; never the token itself. */
export type TokenView =
  | { readonly state: 'none' }
  | { readonly state: 'cached'; readonly expiresAt: number | null; readonly refreshable: boolean };

/** A folder, for the dialogs that open and save. */
export interface FolderView {
  readonly path: string;
  readonly parent: string | null;
  readonly entries: readonly { readonly name: string; readonly folder: boolean }[];
}
