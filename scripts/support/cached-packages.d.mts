export function cachedPackages(name: string, packages: readonly string[]): (...path: readonly string[]) => string;
