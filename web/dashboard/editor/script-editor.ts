import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeCompletion,
  completionStatus,
  selectedCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState, Prec } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Suggestions } from './suggest.js';

/** An editor for agent JS. Its owner destroys it. */
export interface ScriptEditor {
  setText(text: string): void;
  focus(): void;
  destroy(): void;
}

export interface ScriptEditorOptions {
  readonly text: string;
  /** The label for screen readers. */
  readonly label: string;
  changed(text: string): void;
  /** Ctrl+Enter; of a field with a history also Enter, and Shift+Enter starts a new line there. */
  run(): void;
  /** An older (1) or newer (-1) script from the history; null if there is none. Absent: a file, with line numbers. */
  older?(step: 1 | -1): string | null;
  /** Ctrl+S. */
  save?(): void;
  /** The caret is in another line. */
  moved?(line: number): void;
  /** Completions at the end of a text. */
  suggest(before: string): Suggestions | null;
}

const look = EditorView.theme({
  '&': { color: 'inherit', backgroundColor: 'transparent', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { fontFamily: 'ui-monospace, "Cascadia Code", Menlo, monospace', caretColor: 'currentcolor' },
  '.cm-cursor': { borderLeftColor: 'currentcolor' },
  '.cm-scroller': { minHeight: '3.2rem', maxHeight: '16rem', overflow: 'auto' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'var(--accent-soft) !important' },
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    borderRadius: '6px',
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--accent-text)',
  },
  '.cm-completionDetail': { color: 'var(--quiet)', fontStyle: 'normal', marginLeft: '1em' },
  '.cm-tooltip.cm-completionInfo': { padding: '6px 10px', maxWidth: '26rem', whiteSpace: 'pre-line' },
});

/** An editor for a file is as high as its text, up to the window. */
const fileLook = EditorView.theme({
  '.cm-scroller': { minHeight: '12rem', maxHeight: '70vh' },
  '.cm-gutters': { backgroundColor: 'transparent', borderRight: '0', color: 'var(--quiet)' },
});

const colours = HighlightStyle.define([
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--good)' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.bool, tags.null], color: 'var(--accent)' },
  { tag: [tags.number], color: 'var(--warn)' },
  { tag: [tags.comment], color: 'var(--quiet)', fontStyle: 'italic' },
]);

/**
 * Opens an editor in `host`. It lives in a shadow root, because the content security policy, which forbids inline
 * styles, still allows the editor's own style sheets there.
 */
export function openScriptEditor(host: HTMLElement, options: ScriptEditorOptions): ScriptEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const replace = (text: string) =>
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: text },
      selection: { anchor: text.length },
    });
  const recall = (step: 1 | -1): boolean => {
    const { doc, selection } = view.state;
    const line = doc.lineAt(selection.main.head).number;
    if (completionStatus(view.state) !== null || line !== (step === 1 ? 1 : doc.lines)) return false;
    const text = options.older?.(step) ?? null;
    if (text !== null) replace(text);
    return text !== null;
  };
  const run = (): boolean => {
    closeCompletion(view);
    options.run();
    return true;
  };
  /** Whether Enter would complete something: what is written whole already is run. */
  const completes = (): boolean => {
    const { state } = view;
    const chosen = completionStatus(state) === 'active' ? selectedCompletion(state) : null;
    const { head } = state.selection.main;
    return chosen !== null && state.sliceDoc(Math.max(0, head - chosen.label.length), head) !== chosen.label;
  };
  const save = (): boolean => {
    options.save?.();
    return options.save !== undefined;
  };
  const isField = options.older !== undefined;
  let line = 1;
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        Prec.highest(
          keymap.of([
            { key: 'Mod-Enter', run },
            { key: 'Mod-s', run: save },
            { key: 'Tab', run: acceptCompletion },
            ...(isField
              ? [
                  { key: 'Enter', run: () => !completes() && run() },
                  { key: 'ArrowUp', run: () => recall(1) },
                  { key: 'ArrowDown', run: () => recall(-1) },
                ]
              : []),
          ]),
        ),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        javascript(),
        syntaxHighlighting(colours),
        autocompletion({ override: [(context) => completionsOf(context, options)], icons: false, interactionDelay: 0 }),
        isField ? EditorView.lineWrapping : [lineNumbers(), fileLook],
        EditorView.contentAttributes.of({ 'aria-label': options.label, spellcheck: 'false' }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) options.changed(state.doc.toString());
          const now = state.doc.lineAt(state.selection.main.head).number;
          if (now !== line) options.moved?.(now);
          line = now;
        }),
        look,
      ],
    }),
  });
  return {
    setText: replace,
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

function completionsOf(context: CompletionContext, options: ScriptEditorOptions): CompletionResult | null {
  const found = options.suggest(context.state.sliceDoc(0, context.pos));
  if (found === null || (found.length === 0 && !context.explicit && !found.opens)) return null;
  return {
    from: context.pos - found.length,
    options: found.suggestions.map(({ label, detail, info }) => ({
      label,
      ...(detail === undefined ? {} : { detail }),
      ...(info === undefined ? {} : { info }),
    })),
    filter: true,
    validFor: found.while,
  };
}
