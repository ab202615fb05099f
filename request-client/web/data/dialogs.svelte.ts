/** The content of a dialog; one at a time. */
export type Question =
  | {
      readonly kind: 'file';
      readonly purpose: FilePurpose;
      /** The initial file name, for saving. */
      readonly name: string;
      readonly done: (path: string | null) => void;
    }
  | {
      readonly kind: 'choice';
      readonly title: string;
      readonly text: string;
      readonly choices: readonly string[];
      readonly done: (choice: string | null) => void;
    };

export type FilePurpose = 'open' | 'save' | 'open-environment' | 'new-environment' | 'save-body' | 'export';

/** Dialogs with the user, and the notice at the bottom. */
class Dialogs {
  question = $state.raw<Question | null>(null);
  /** `bad` for a failure. */
  notice = $state.raw<{ readonly text: string; readonly bad: boolean } | null>(null);

  say(text: string, bad = false): void {
    this.notice = { text, bad };
  }

  /** Runs an action; a failure is shown at the bottom. */
  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error), true);
      return undefined;
    }
  }

  ask(title: string, text: string, choices: readonly string[]): Promise<string | null> {
    return new Promise((resolve) => {
      this.question = { kind: 'choice', title, text, choices, done: this.#answered(resolve) };
    });
  }

  askFile(purpose: FilePurpose, name = ''): Promise<string | null> {
    return new Promise((resolve) => {
      this.question = { kind: 'file', purpose, name, done: this.#answered(resolve) };
    });
  }

  #answered<T>(resolve: (value: T) => void): (value: T) => void {
    return (value) => {
      this.question = null;
      resolve(value);
    };
  }
}

export const dialogs = new Dialogs();
