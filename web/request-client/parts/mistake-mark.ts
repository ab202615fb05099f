import type { Extension } from '@codemirror/state';
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import { jsonMistake } from '../data/answers/json-mistake.js';

function markIn({ state }: EditorView): DecorationSet {
  const mistake = jsonMistake(state.doc.toString());
  if (mistake === null) return Decoration.none;
  const from = Math.max(0, Math.min(mistake.at, state.doc.length - 1));
  return Decoration.set(
    Decoration.mark({ class: 'mistake', attributes: { title: mistake.why } }).range(from, from + 1),
  );
}

/** Marks the first mistake of a JSON text. */
export const mistakeMark: Extension = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = markIn(view);
    }

    update({ docChanged, view }: ViewUpdate): void {
      if (docChanged) this.decorations = markIn(view);
    }
  },
  { decorations: (own) => own.decorations },
);
