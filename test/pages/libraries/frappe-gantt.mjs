// Frappe Gantt: the example of its site. A bar, a handle at each of its ends, and one for its progress, which stands in it.
import './node_modules/frappe-gantt/dist/frappe-gantt.css';
import Gantt from 'frappe-gantt';
main.innerHTML = '<h1>Plan</h1><div id="gantt" style="width: 1100px"></div>';
const day = (days) => new Date(Date.UTC(2026, 0, 1 + days)).toISOString().slice(0, 10);
const tasks = [
  { id: 'redesign', name: 'Redesign website', start: day(1), end: day(6), progress: 45 },
  { id: 'write', name: 'Write new content', start: day(4), end: day(9), progress: 30, dependencies: 'redesign' },
  { id: 'live', name: 'Go', start: day(7), end: day(9), progress: 0 },
];
globalThis.gantt = new Gantt('#gantt', tasks, {
  view_mode_select: true,
  scroll_to: 'start',
  on_date_change: ({ id }) => say(`date ${id}`),
  on_progress_change: ({ id }) => say(`progress ${id}`),
  on_click: ({ id }) => say(`click ${id}`),
});
