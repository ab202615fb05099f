import { type Extension, Facet } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  hoverTooltip,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import { isDynamic, resolved, type Values } from '../data/variables.js';

const values = Facet.define<Values, Values>({ combine: (all) => all[0] ?? {} });

const marks = new MatchDecorator({
  regexp: /\{\{([^{}]+)\}\}/g,
  decoration([, name = ''], view) {
    const own = name.trim();
    const known = isDynamic(own) || view.state.facet(values)[own] !== undefined;
    return Decoration.mark({ class: known ? 'variable' : 'variable unknown' });
  },
});

const plugin = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = marks.createDeco(view);
    }

    update(update: ViewUpdate): void {
      const same = update.startState.facet(values) === update.state.facet(values);
      this.decorations = same ? marks.updateDeco(update, this.decorations) : marks.createDeco(update.view);
    }
  },
  { decorations: (own) => own.decorations },
);

const tooltip = hoverTooltip((view, position) => {
  const { text, from } = view.state.doc.lineAt(position);
  for (const found of text.matchAll(/\{\{([^{}]+)\}\}/g)) {
    const start = from + found.index;
    const end = start + found[0].length;
    if (position < start || position > end) continue;
    const own = view.state.facet(values);
    const name = (found[1] ?? '').trim();
    const known = own[name] === undefined ? (isDynamic(name) ? 'a new value for each request' : 'no value') : null;
    return {
      pos: start,
      end,
      create() {
        const dom = document.createElement('div');
        dom.className = 'variable-value';
        dom.textContent = known ?? resolved(found[0], own);
        return { dom };
      },
    };
  }
  return null;
});

/** Highlights `{{variables}}`, differently if they have no value, and shows values under the pointer. */
export function variableMarks(own: Values): Extension {
  return [values.of(own), plugin, tooltip];
}
