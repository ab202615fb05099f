/** One line of `troupe setup`. `failed` keeps the service from running, `note` only limits it. */
export interface Finding {
  readonly level: 'ok' | 'note' | 'failed';
  readonly what: string;
  readonly why: string;
  readonly fix?: string;
}
