export const readTrace = 1;
