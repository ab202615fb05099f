/** The declarations that `troupe types` writes; the build puts them here. */
declare module 'troupe:script-types' {
  const declarations: string;
  export default declarations;
}
