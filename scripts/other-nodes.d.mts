export const otherNodes: Readonly<Record<string, string>>;
export function nodeBinary(major: string | number): string;
export function ensureOtherNodes(): Promise<boolean>;
