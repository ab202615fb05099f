/** The names of a session's films in its folder: one for each browser that it had. */
export const FILM = /^video(-\d+)?\.mp4$/;
