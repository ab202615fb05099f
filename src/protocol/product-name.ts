/** The name of the command, of the npm package, and of folders of the user: the only place that says it. */
export const PRODUCT_NAME = 'troupe';
