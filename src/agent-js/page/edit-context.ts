interface Editor {
  readonly isContentEditable: boolean;
  readonly editContext: { readonly text: string } | null;
}

/**
 * Where typing goes in an editor that draws its text by itself (https://www.w3.org/TR/edit-context/): in no field, and
 * nothing of it can be selected but by the editor's own keys. Null for everything else.
 */
export function editContextOf(element: Element): { readonly text: string } | null {
  const { isContentEditable = false, editContext = null } = element as Partial<Editor>;
  return isContentEditable ? null : editContext;
}
