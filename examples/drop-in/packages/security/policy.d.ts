export * from '@graphorin/tools/policy';
