export * from '@graphorin/tools/secrets';
