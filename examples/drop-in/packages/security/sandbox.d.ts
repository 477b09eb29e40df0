export * from '@graphorin/tools/sandbox';
