export const also = '#slider';
export const labels = [
  ['Drag me', '#drag', 'drag', '#tap', `moved.drag?.y > 100`],
  ['Drag me', '#drag', 'drag', '#other', `dropped.other === 'drag'`],
  ['Yes drop', '#yes', 'drag', '#inner', `dropped.inner === 'yes'`],
  ['Yes drop', '#yes', 'drag', '#other', `dropped.other === 'yes'`],
  ['No drop', '#no', 'drag', '#other', `dropped.other === 'no'`],
  ['No drop', '#no', 'drag', '#drag', 'moved.no?.y < -50'],
  ['Tap me', '#tap', 'click', null, `heard.includes('tap')`],
  ['Tap me', '#tap', 'dblclick', null, `heard.includes('doubletap')`],
];
