export * from '@graphorin/tools/inspect';
