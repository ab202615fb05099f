// Leaflet: the quick start's map without its tiles, alone on its page, and a marker that is dragged.
import 'leaflet/dist/leaflet.css';
import L from 'leaflet';
main.innerHTML = '<section><div id="map" style="width: 600px; height: 400px"></div></section>';
globalThis.london = L.map('map').setView([51.505, -0.09], 13);
const icon = L.divIcon({ iconSize: [24, 24] });
globalThis.home = L.marker([51.5, -0.09], { draggable: true, title: 'Home', icon }).addTo(london).bindPopup('Hello there');
