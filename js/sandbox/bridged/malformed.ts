/** A value that no honest sandbox sends. @internal */
export class MalformedValue extends Error {}
