export const also = '.jstree-ocl, .jstree-anchor';
export const labels = [
  ['Documents', '#docs_anchor', 'click', null, `tree.get_selected().join() === 'docs'`],
  ['CV.pdf', '#cv_anchor', 'click', null, `tree.get_selected().join() === 'cv'`],
  ['Music', '#music_anchor', 'hover', null, `heard.includes('hover music')`],
  ['', '#pics > .jstree-ocl', 'click', null, `tree.is_open('pics')`],
  ['', '#docs > .jstree-ocl', 'click', null, `tree.is_closed('docs')`],
  ['Pictures', '#pics_anchor', 'dblclick', null, `heard.includes('double Pictures') && tree.is_open('pics')`],
  ['cat.png', '#cat_anchor', 'click', null, `tree.get_selected().join() === 'cat'`, { after: ['Pictures:dblclick'] }],
  ['Letter.txt', '#letter_anchor', 'rightclick', null, `document.querySelector('.vakata-context')?.checkVisibility() === true`],
  ['Delete', '.vakata-context a :: Delete', 'click', null, `tree.get_node('letter') === false`, { after: ['Letter.txt:rightclick'] }],
  ['CV.pdf', '#cv_anchor', 'drag', '#music_anchor', `tree.get_parent('cv') === 'music'`],
  ['All Documents', '#c-docs_anchor', 'click', null, `checks.get_checked().join() === 'c-docs'`],
  ['All Music', '#c-music_anchor', 'click', null, `checks.get_checked().join() === 'c-music'`],
];
