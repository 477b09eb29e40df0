/** The version of this package, as in its `package.json`. A test keeps the two equal. */
export const VERSION: string = '0.1.0';
