/** The names of a session's videos in its folder: one for each browser that it had. */
export const VIDEO = /^video(-\d+)?\.mp4$/;
