export const also = '.leaflet-container';
export const labels = [
  ['map', '#map', 'drag', { by: [80, 40] }, 'london.getCenter().lng < -0.093'],
  ['Home', '.leaflet-marker-icon', 'drag', { by: [40, 40] }, 'home.getLatLng().lng > -0.089'],
  ['Home', '.leaflet-marker-icon', 'click', null, `document.querySelector('.leaflet-popup') !== null`],
  ['Zoom in', '.leaflet-control-zoom-in', 'click', null, 'london.getZoom() === 14'],
];
