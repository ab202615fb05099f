const order = (id, ids) => `order('${id}') === '${ids}' && document.querySelector('.draggable--is-dragging') === null`;
export const also = 'li, .piece';
export const labels = [
  ['First', '#s1', 'drag', '#s2', order('sort', 's2,s1,s3')],
  ['First', '#s1', 'drag', '#s3', order('sort', 's2,s3,s1')],
  ['Third', '#s3', 'drag', '#s1', order('sort', 's3,s1,s2')],
  ['Red', '#w1', 'drag', '#w3', order('swap', 'w3,w2,w1')],
  ['Red', '#w1', 'drag', '#w2', order('swap', 'w2,w1,w3')],
  ['Blue', '#w3', 'drag', '#w2', order('swap', 'w1,w3,w2')],
  ['Piece', '#p1', 'drag', '#z2', `document.querySelector('#z2 #p1') !== null`],
  ['Piece', '#p1', 'drag', '#z3', `document.querySelector('#z3 #p1') !== null`],
];
