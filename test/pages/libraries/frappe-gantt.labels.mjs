const bar = (id) => `.bar-wrapper[data-id="${id}"]`;
const moved = (id) => `heard.includes('date ${id}') && !heard.some((one) => one.startsWith('progress'))`;
export const labels = [
  ['Redesign website', bar('redesign'), 'drag', { by: [90, 0] }, moved('redesign')],
  ['Write new content', bar('write'), 'drag', { by: [90, 0] }, moved('write')],
  ['Go', bar('live'), 'drag', { by: [90, 0] }, moved('live')],
  ['Redesign website', bar('redesign'), 'click', null, `heard.includes('click redesign')`],
  ['', '.viewmode-select', 'select', 'Week', `gantt.config.view_mode.name === 'Week'`],
];
