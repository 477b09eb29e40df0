/** What the first bytes of a binary say it was built for. */
export interface BinaryKind {
  os: string;
  cpu: string;
  libc?: string;
}
export function kindOf(file: string): BinaryKind;
export function misfit(manifest: { os: string[]; cpu: string[]; libc?: string[] }, file: string): string | undefined;
/** Writes the folder that is published as the package itself. */
export function stage(folder: string): void;
