// A to-do list written with Lit.
import { html, LitElement } from 'lit';

class TodoList extends LitElement {
  static properties = { items: { state: true } };
  constructor() {
    super();
    this.items = ['Write', 'Test'];
  }
  render() {
    return html`<form @submit=${(e) => e.preventDefault()}><input aria-label="New item"><button type="button" @click=${this.add}>Add</button></form>
      ${this.items.map((item) => html`<p><label><input type="checkbox">${item}</label> <span @click=${() => this.remove(item)}>Remove ${item}</span></p>`)}`;
  }
  add() {
    this.items = [...this.items, this.renderRoot.querySelector('input').value || 'Something'];
  }
  remove(item) {
    this.items = this.items.filter((other) => other !== item);
  }
}
customElements.define('todo-list', TodoList);
