/** The names of a session's films in its folder: one for each browser that it had. */
export const VIDEO = /^video(-\d+)?\.mp4$/;
