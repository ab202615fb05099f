/** The CI build that a command runs in. Null members are not known. */
export interface CiBuild {
  /** The CI's name, for people. */
  readonly name: string;
  readonly commit: string | null;
  readonly branch: string | null;
  /** `owner/name`. */
  readonly repository: string | null;
  readonly buildUrl: string | null;
  readonly buildNumber: number | null;
}
