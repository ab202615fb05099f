// Material Web's components, as its package publishes them.
import '@material/web/all.js';
