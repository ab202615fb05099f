export function readYaml(text: string): unknown[];
