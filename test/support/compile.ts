import ts from 'typescript';

/** A compilation of files of which only the compiler knows. */
export interface Compiled {
  readonly program: ts.Program;
  /** What it found in them: `docs/client.md:6, line 3: TS2304: Cannot find name 'agent'.` */
  readonly faults: readonly string[];
}

/**
 * Compiles texts as if they were files. What they import is read, and not checked: its types are found as far as the texts
 * use them.
 *
 * @param texts by their absolute path
 * @param options.nameOf how a fault names a file
 */
export function compile(
  texts: ReadonlyMap<string, string>,
  compilerOptions: ts.CompilerOptions,
  {
    files = [],
    nameOf = (path) => path,
  }: {
    /** Other root files. */
    readonly files?: readonly string[];
    readonly nameOf?: (path: string) => string;
  } = {},
): Compiled {
  const host = ts.createCompilerHost(compilerOptions);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.readFile = (path) => texts.get(path) ?? readFile(path);
  host.getSourceFile = (path, language, ...more) => {
    // The comments of others are half of what there is to read.
    const jsDocParsingMode = path.includes('/node_modules/')
      ? ts.JSDocParsingMode.ParseNone
      : ts.JSDocParsingMode.ParseAll;
    const how = typeof language === 'object' ? { ...language, jsDocParsingMode } : language;
    const text = texts.get(path);
    return text === undefined ? getSourceFile(path, how, ...more) : ts.createSourceFile(path, text, how);
  };
  const program = ts.createProgram({ rootNames: [...texts.keys(), ...files], options: compilerOptions, host });
  const sources = program.getSourceFiles().filter(({ fileName }) => texts.has(fileName) || files.includes(fileName));
  const found = [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...sources.flatMap((source) => [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ]),
  ];
  const faults = found.map(({ file, start, code, messageText }) => {
    const line = file === undefined || start === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    const text = ts.flattenDiagnosticMessageText(messageText, ' ');
    return `${nameOf(file?.fileName ?? '')}, line ${line}: TS${code}: ${text}`;
  });
  return { program, faults };
}

/** Calls of interfaces, and members of classes, that have no comment for editors: `Session.run`. */
export function undocumented(program: ts.Program, isOwn: (path: string) => boolean): readonly string[] {
  const checker = program.getTypeChecker();
  const missing: string[] = [];
  const visit = (node: ts.Node, name: string): void => {
    if (!ts.isClassDeclaration(node) && !ts.isInterfaceDeclaration(node)) return;
    for (const member of node.members) {
      if (member.name === undefined || ts.isPrivateIdentifier(member.name) || ts.isPropertySignature(member)) continue;
      const isHidden =
        ts.canHaveModifiers(member) &&
        ts
          .getModifiers(member)
          ?.some(({ kind }) => kind === ts.SyntaxKind.ProtectedKeyword || kind === ts.SyntaxKind.PrivateKeyword);
      const symbol = checker.getSymbolAtLocation(member.name);
      if (isHidden !== true && symbol?.getDocumentationComment(checker).length === 0)
        missing.push(`${name}.${symbol.name}`);
    }
  };
  for (const source of program.getSourceFiles().filter(({ fileName }) => isOwn(fileName))) {
    source.forEachChild((node) => {
      if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) visit(node, node.name?.text ?? '');
    });
  }
  return missing;
}
