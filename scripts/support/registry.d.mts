export function assertRegistry(cwd: string, deadlineMs?: number): Promise<void>;
